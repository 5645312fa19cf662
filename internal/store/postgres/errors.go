package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lathe"
	"lathe/internal/store"
)

var errUnsettled = errors.New("the transaction is still being committed")

// SQLSTATE codes that lathe tells apart; a class has two characters.
const (
	classConnection = "08"
	diskFull        = "53100"
	internalError   = "XX000"
	tooManyConns    = "53300"
	adminShutdown   = "57P01"
	crashShutdown   = "57P02"
	cannotConnect   = "57P03"
	readOnlyNow     = "25006"
	idleTooLong     = "25P03"
	wrongPassword   = "28P01"
	notAllowedIn    = "28000"
	noDatabase      = "3D000"
	notPermitted    = "42501"
	noTable         = "42P01"
	divisionByZero  = "22012"
	deadlock        = "40P01"
	lockTaken       = "55P03"
	conflict        = "40001" // with another transaction
	notYet          = "22023" // what a parameter says: a transaction with this number
)

func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// away reports whether an error says that the database cannot be reached for now.
func away(err error) bool {
	switch code := state(err); {
	case strings.HasPrefix(code, classConnection):
		return true
	case code == tooManyConns, code == adminShutdown, code == crashShutdown, code == cannotConnect, code == idleTooLong:
		return true
	case code != "":
		return false
	}
	if errors.Is(err, errUnsettled) {
		return true
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.Timeout(err) || strings.Contains(err.Error(), "conn closed")
}

// cannotGrow reports whether a table cannot have another page. Newer versions of PostgreSQL have no
// code of their own for that unless the disk is full; a limit on the size of files is no less.
func cannotGrow(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == internalError && (e.Routine == "mdextend" || e.Routine == "mdzeroextend")
}

// explain turns an error of the database into one that says what to do.
func (c *core) explain(err error) error {
	if err == nil || lathe.CodeOf(err) != lathe.CodeInternal {
		return err
	}
	switch code := state(err); {
	case code == diskFull, cannotGrow(err), errors.Is(err, syscall.ENOSPC):
		return wrapped(lathe.CodeFull, "free some space on the database server, then try again; what was stored before is safe",
			errors.Join(store.ErrFull, err), "no space left in the database %s", c.where)
	case code == readOnlyNow, errors.Is(err, syscall.EROFS):
		return wrapped(lathe.CodeReadOnly, "connect to the primary server: this one is a replica, or was set to read only",
			errors.Join(store.ErrReadOnly, err), "the database %s cannot be written", c.where)
	case code == wrongPassword, code == notAllowedIn:
		return wrapped(lathe.CodeAuth, "check user and password in the address of the database", nil,
			"the database %s refuses this user: %s", c.where, said(err))
	case code == noDatabase:
		return wrapped(lathe.CodeInvalid, "make it with: createdb", nil, "there is no database %s", c.where)
	case code == notPermitted:
		return wrapped(lathe.CodePermission, "let the user own the database, or grant it CREATE on the schema", err,
			"this user may not work in the database %s", c.where)
	case code == tooManyConns:
		return wrapped(lathe.CodeUnavailable, "raise max_connections, lower pool_max_conns in the address, or put a pooler in between",
			errors.Join(store.ErrAway, err), "the database %s takes no more connections", c.where)
	case code == deadlock, code == conflict:
		return wrapped(lathe.CodeUnavailable, "try again", err, "others were changing the same in the database %s", c.where)
	case away(err):
		return wrapped(lathe.CodeUnavailable, "start it or check the network, then try again; what was stored before is safe",
			errors.Join(store.ErrAway, err), "the database %s cannot be reached", c.where)
	}
	return err
}

// said is what the server said, without the address that pgx puts around it.
func said(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Message
	}
	return "connection refused"
}

func wrapped(code lathe.Code, hint string, cause error, format string, args ...any) *lathe.Error {
	e := lathe.Errorf(code, hint, format, args...)
	e.Cause = cause
	return e
}

// missing turns the driver's error for no row into ours.
func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}
