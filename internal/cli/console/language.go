package console

import (
	"sync"

	"lathe/internal/config"
	"lathe/internal/say"
)

// Language returns the language in which the person is told things. It reads their
// configuration, once, so it is for what is said rarely: help and errors.
func (e *Env) Language() say.Language {
	if e.language == nil {
		e.language = sync.OnceValue(func() say.Language {
			configured := ""
			if paths, err := config.DefaultPaths(e.Getenv); err == nil {
				configured = config.OwnLanguage(paths)
			}
			return say.Choose(configured, e.Getenv)
		})
	}
	return e.language()
}
