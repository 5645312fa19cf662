package formula

import "sync"

// relations stand between two things, with blanks around them.
var relations = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "equiv": "≡", "approx": "≈", "sim": "∼", "simeq": "≃", "cong": "≅", "propto": "∝",
		"ll": "≪", "gg": "≫", "prec": "≺", "succ": "≻", "preceq": "≼", "succeq": "≽", "leqslant": "≤", "geqslant": "≥", "lt": "<", "gt": ">", "doteq": "≐", "asymp": "≍",
		"in": "∈", "notin": "∉", "ni": "∋", "subset": "⊂", "supset": "⊃", "subseteq": "⊆", "supseteq": "⊇", "subsetneq": "⊊", "mid": "|", "parallel": "∥", "perp": "⊥",
		"to": "→", "rightarrow": "→", "leftarrow": "←", "leftrightarrow": "↔", "Rightarrow": "⇒", "Leftarrow": "⇐", "Leftrightarrow": "⇔", "implies": "⇒", "impliedby": "⇐",
		"iff": "⇔", "mapsto": "↦", "longrightarrow": "⟶", "longleftarrow": "⟵", "Longrightarrow": "⟹", "longmapsto": "⟼", "hookrightarrow": "↪", "uparrow": "↑", "downarrow": "↓",
		"gets": "←", "rightharpoonup": "⇀", "rightleftharpoons": "⇌", "xrightarrow": "→", "vdash": "⊢", "models": "⊨", "coloneqq": "≔", "triangleq": "≜", "leadsto": "⇝",
		"pm": "±", "mp": "∓", "times": "×", "div": "÷", "cup": "∪", "cap": "∩", "setminus": "∖", "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨", "oplus": "⊕", "ominus": "⊖",
		"otimes": "⊗", "odot": "⊙", "bmod": "mod", "mod": "mod", "circ": "∘", "bullet": "∙", "star": "⋆", "ast": "∗", "sqcup": "⊔", "sqcap": "⊓", "bowtie": "⋈", "ltimes": "⋉", "rtimes": "⋊",
	}
})

// symbols stand for themselves.
var symbols = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ",
		"lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "varsigma": "ς", "tau": "τ", "upsilon": "υ",
		"phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ",
		"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
		"sum": "∑", "prod": "∏", "coprod": "∐", "int": "∫", "iint": "∬", "iiint": "∭", "oint": "∮", "bigcup": "⋃", "bigcap": "⋂", "bigoplus": "⨁", "bigotimes": "⨂", "bigvee": "⋁", "bigwedge": "⋀",
		"infty": "∞", "partial": "∂", "nabla": "∇", "forall": "∀", "exists": "∃", "nexists": "∄", "emptyset": "∅", "varnothing": "∅", "neg": "¬", "lnot": "¬", "top": "⊤", "bot": "⊥",
		"angle": "∠", "triangle": "△", "square": "□", "Box": "□", "blacksquare": "■", "qed": "∎", "hbar": "ℏ", "ell": "ℓ", "Re": "ℜ", "Im": "ℑ", "aleph": "ℵ", "wp": "℘", "dagger": "†", "ddagger": "‡",
		"cdot": "·", "cdots": "⋯", "ldots": "…", "dots": "…", "vdots": "⋮", "ddots": "⋱", "dotsc": "…", "dotsb": "⋯", "prime": "′", "degree": "°", "therefore": "∴", "because": "∵", "checkmark": "✓",
		"langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "vert": "|", "Vert": "‖", "|": "‖",
		"lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "{": "{", "}": "}", "$": "$", "%": "%", "&": "&", "#": "#", "_": "_", "backslash": "∖", "surd": "√",
		",": " ", ";": " ", ":": " ", "!": "", " ": " ", "quad": "  ", "qquad": "   ", ">": " ", "-": "", "/": "", "thinspace": " ", "nonumber": "", "notag": "", "hline": "", "hfill": " ", "enspace": " ",
		"colon": ":", "dag": "†", "S": "§", "copyright": "©", "pounds": "£", "euro": "€", "clubsuit": "♣", "heartsuit": "♥", "imath": "ı", "jmath": "ȷ", "AA": "Å",
	}
})

// words are functions that are set upright.
var words = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range [...]string{"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "ln", "lg", "exp", "lim", "limsup", "liminf",
		"max", "min", "sup", "inf", "arg", "det", "dim", "ker", "deg", "gcd", "lcm", "Pr", "hom", "tr", "rank", "sgn", "argmax", "argmin"} {
		out[w] = true
	}
	return out
})

// accents are marks above a letter.
var accents = sync.OnceValue(func() map[string]string {
	return map[string]string{"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7", "check": "\u030c",
		"breve": "\u0306", "acute": "\u0301", "grave": "\u0300", "mathring": "\u030a", "underline": "\u0332", "overrightarrow": "\u20d7"}
})
