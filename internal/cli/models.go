package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/printable"
	"lathe/internal/provider"
)

func newModels(env *Env) *cobra.Command {
	var verbose, refresh, all bool
	cmd := &cobra.Command{
		Use:   "models [provider]",
		Short: "List the models that can be used",
		Long: `Models lists the models of the providers that are connected, as provider/model.
The default model is marked with a star.

A provider is connected by a key in the environment or by: lathe auth login`,
		Example: "  lathe models\n  lathe models anthropic --verbose\n  lathe models --refresh",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter := ""
			if len(args) > 0 {
				filter = args[0]
			}
			return models(cmd.Context(), env, filter, verbose, refresh, all)
		},
	}
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print what is known of each model, as JSON")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "fetch the newest catalogue first")
	cmd.Flags().BoolVar(&all, "all", false, "list the whole catalogue, connected or not")
	return cmd
}

func models(ctx context.Context, env *Env, filter string, verbose, refresh, all bool) (err error) {
	dir, err := workDir(env, "")
	if err != nil {
		return err
	}
	app, err := openApp(ctx, env, appOptions{dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if refresh {
		if _, err := catalog.Refresh(ctx, app.catalogOptions(), true); err != nil {
			return lathe.Errorf(lathe.CodeProvider, "check the network; the catalogue that is there stays in use", "refresh the catalogue: %v", err)
		}
	}
	inst, err := app.svc.Instance(ctx, dir)
	if err != nil {
		return err
	}
	list, err := inst.Models.Models(filter, all)
	if err != nil {
		return err
	}
	for _, l := range inst.Models.UnusableLogins() {
		if all || filter == l.Provider {
			fmt.Fprintf(env.Stderr, "lathe: %s cannot be used as it is logged in: %s; store a key with: lathe auth login %s\n", l.Provider, l.Why, l.Provider)
		}
	}
	def, _, _ := inst.Models.Default(ctx)
	for _, m := range list {
		if verbose {
			err = printModel(env, m)
		} else {
			_, err = fmt.Fprintln(env.Stdout, clean(m.Ref.String())+star(m.Ref, def))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func star(ref, def lathe.ModelRef) string {
	if ref.Provider == def.Provider && ref.Model == def.Model {
		return " *"
	}
	return ""
}

func printModel(env *Env, m *provider.Model) error {
	variants := make([]string, len(m.Variants))
	for i, v := range m.Variants {
		variants[i] = v.Name
	}
	prices := m.Price.For(0)
	doc := map[string]any{
		"id": m.Ref.String(), "name": m.Name, "apiID": m.APIID, "protocol": m.Protocol, "status": m.Status, "released": m.Released,
		"limit":     map[string]int{"context": m.Limit.Context, "input": m.Limit.Input, "output": m.Limit.Output},
		"cost":      map[string]float64{"input": perMillion(prices.Input), "output": perMillion(prices.Output), "cache_read": perMillion(prices.CacheRead), "cache_write": perMillion(prices.CacheWrite)},
		"reasoning": m.Caps.Reasoning, "tools": m.Caps.ToolCall, "attachments": m.Caps.Attachment,
		"input": m.Caps.Input.List(), "variants": variants,
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\n", strings.TrimSpace(string(printable.JSON(out))))
	return err
}

func perMillion(p lathe.Price) float64 { return float64(p) / 1e6 }
