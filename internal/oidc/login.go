package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Login is one that has begun: what only the browser that began it has. It is secret.
type Login struct {
	State    string `json:"s"` // comes back from the issuer
	Nonce    string `json:"n"` // is in the token
	Verifier string `json:"v"` // proves who began it (PKCE)
}

// Begin returns the address at which the person logs in, and what to keep until the issuer sends
// the browser back to redirect.
func (i *Issuer) Begin(ctx context.Context, redirect string) (address string, l Login, err error) {
	conf, err := i.client(ctx, redirect)
	if err != nil {
		return "", l, err
	}
	l = Login{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return conf.AuthCodeURL(l.State, oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)), l, nil
}

// Finish ends a login with what the issuer sent the browser back with, and returns the person
// and the token that names that person.
func (i *Issuer) Finish(ctx context.Context, redirect string, l Login, state, code string) (p Person, token string, err error) {
	if l.State == "" || subtle.ConstantTimeCompare([]byte(l.State), []byte(state)) != 1 {
		return p, "", errors.New("this is not the login that was begun here")
	}
	conf, err := i.client(ctx, redirect)
	if err != nil {
		return p, "", err
	}
	got, err := conf.Exchange(oidc.ClientContext(ctx, i.http), code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		var no *oauth2.RetrieveError
		if errors.As(err, &no) { // its text has the whole answer
			err = fmt.Errorf("the issuer answers %.60q", no.ErrorCode)
		}
		return p, "", fmt.Errorf("end the login: %w", err)
	}
	token, _ = got.Extra("id_token").(string)
	if !IsToken(token) {
		return p, "", errors.New("the issuer sent no token that names a person")
	}
	p, err = i.verify(ctx, token, l.Nonce)
	return p, token, err
}

// client is this server at the issuer.
func (i *Issuer) client(ctx context.Context, redirect string) (*oauth2.Config, error) {
	provider, err := i.discovered(ctx)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{
		ClientID: i.o.ClientID, ClientSecret: i.o.ClientSecret, Endpoint: provider.Endpoint(), RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, i.o.Scopes...),
	}, nil
}
