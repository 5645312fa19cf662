package manage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/printable"
)

// NewModels is lathe models.
func NewModels(env *console.Env) *cobra.Command {
	var refresh bool
	var filter api.ModelFilter
	var format console.ListFormat
	cmd := &cobra.Command{
		Use:   "models [provider]",
		Short: "List the models that can be used",
		Long: `Models lists the models of the providers that are connected, as provider/model.
The default model is marked with a star.

A provider is connected by a key in the environment or by: lathe auth login`,
		Example: "  lathe models\n  lathe models anthropic --verbose\n  lathe models --refresh",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				filter.Provider = args[0]
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				if refresh {
					if err := f.RefreshCatalog(cmd.Context()); err != nil {
						return err
					}
				}
				return printModels(cmd.Context(), env, f, filter, format)
			})
		},
	}
	format.Flag(cmd.Flags())
	cmd.Flags().BoolVar(&filter.Details, "verbose", false, "print what is known about each model, as JSON")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "fetch the newest catalogue first")
	cmd.Flags().BoolVar(&filter.All, "all", false, "list the whole catalogue, connected or not")
	return cmd
}

func printModels(ctx context.Context, env *console.Env, f *face.Face, filter api.ModelFilter, format console.ListFormat) error {
	list, err := f.Catalog(ctx, filter)
	if err != nil {
		return err
	}
	for _, l := range list.Unusable {
		fmt.Fprintf(env.Stderr, "lathe: %s cannot be used as it is logged in: %s; store a key with: lathe auth login %s\n", l.Provider, l.Why, l.Provider)
	}
	if format.JSON {
		return console.PrintList(env, list.Models)
	}
	for _, m := range list.Models {
		line := console.Clean(m.Ref)
		switch {
		case m.Details != nil:
			raw, err := json.MarshalIndent(m.Details, "", "  ")
			if err != nil {
				return err
			}
			line = strings.TrimSpace(string(printable.JSON(raw)))
		case m.Default:
			line += " *"
		}
		if _, err := fmt.Fprintln(env.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}
