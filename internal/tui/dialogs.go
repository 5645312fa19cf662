package tui

import ()
