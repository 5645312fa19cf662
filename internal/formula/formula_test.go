package formula

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for tex, want := range map[string]string{
		`x^2 + y_1`:                        "x² + y₁",
		`E = mc^2`:                         "E = mc²",
		`a=b`:                              "a = b",
		`\frac{1}{2}`:                      "½",
		`\frac{a+b}{c}`:                    "(a+b)/c",
		`\frac{-b \pm \sqrt{b^2-4ac}}{2a}`: "(−b ± √(b²−4ac))/(2a)",
		`\sqrt[3]{x}`:                      "∛x",
		`\sqrt[n]{x+1}`:                    "ⁿ√(x+1)",
		`\sum_{i=1}^{n} a_i`:               "∑ᵢ₌₁ⁿ aᵢ",
		`\int_0^\infty e^{-x}\,dx`:         "∫₀^∞ e⁻ˣ dx",
		`\lim_{x \to 0} \frac{\sin x}{x}`:  "lim_(x → 0) (sin x)/x",
		`\alpha\beta \in \mathbb{R}^n`:     "αβ ∈ ℝⁿ",
		`A \subseteq B \Rightarrow C`:      "A ⊆ B ⇒ C",
		`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`:                                  "(a b; c d)",
		`f(x) = \begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}`: "f(x) = { x if x > 0; 0 otherwise }",
		`\begin{aligned} a &= b \\ c &= d \end{aligned}`:                                "a = b; c = d",
		`\left( \frac{x}{y} \right)`:                                                    "(x/y)",
		`\hat{x}`:                                                                       "x\u0302",
		`f'(x)`:                                                                         "f′(x)",
		`O(n \log n)`:                                                                   "O(n log n)",
		`2^{10}`:                                                                        "2¹⁰",
		`x_{max}`:                                                                       "xₘₐₓ",
		`90^\circ`:                                                                      "90°",
		`\text{速度} = \frac{\Delta s}{\Delta t}`:                                         "速度 = (Δs)/(Δt)",
		`P(A \mid B)`:                                                                   "P(A | B)",
		`\binom{n}{k}`:                                                                  "(n choose k)",
		`x \rightarrow y`:                                                               "x → y",
	} {
		if got, ok := Line(tex); got != want || !ok {
			t.Errorf("%s is %q (%v), not %q", tex, got, ok, want)
		}
	}
}

// What is not understood is for the caller to show as it is.
func TestUnknown(t *testing.T) {
	for _, tex := range []string{"", " ", `\nosuch{x}`, `\frac{a}`, `{a`, `a}`, `\begin{pmatrix} a`, `\begin{tikzpicture} x \end{tikzpicture}`, `\begin{pmatrix} a \end{bmatrix}`,
		`a $ b`, strings.Repeat("{", 100) + strings.Repeat("}", 100), strings.Repeat("x", MaxSource+1), "\xff", `\left`, `x^`, `\`} {
		if got, ok := Line(tex); ok {
			t.Errorf("%.40q is %q", tex, got)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add(`\frac{-b \pm \sqrt{b^2-4ac}}{2a}`)
	f.Add(`\begin{cases} x & \text{if } y \\ \end{cases}`)
	f.Add(`\sum_{i=1}^{n}'\hat{\not=}\limits_x`)
	f.Fuzz(func(t *testing.T, tex string) {
		lines, ok := Lines(tex)
		for _, l := range lines {
			if !ok || !utf8.ValidString(l) || strings.Contains(l, "\n") || len(l) > 2*maxResult {
				t.Fatalf("%q: %q", tex, l)
			}
		}
	})
}
