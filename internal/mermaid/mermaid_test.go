package mermaid

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"flowchart", `flowchart TD
    A[Start] --> B{Is it ok?}
    B -->|yes| C([Done])
    B -- no --> D["Fix (it)"]
    D -.-> B
    style A fill:#fff`, `Start
└─▶ Is it ok?
   ├─ yes ─▶ Done
   └─ no ─▶ Fix (it)
      └─▶ Is it ok? ↑`},
		{"graph with groups", `graph LR;
    subgraph api [The API]
    a1 & a2 --> b
    end
    b ==> c((Store))`, `a1
└─▶ b
   └─▶ Store
a2
└─▶ b ↑
▢ The API: a1, a2, b`},
		{"chinese", "graph TD\n开始-->判断{是否完成}\n判断--是-->结束", "开始\n└─▶ 是否完成\n   └─ 是 ─▶ 结束"},
		{"states", `stateDiagram-v2
    [*] --> Still
    Still --> Moving : push
    Moving --> [*]
    note right of Still : it waits`, `●
└─▶ Still
   └─ push ─▶ Moving
      └─▶ ◉`},
		{"sequence", `sequenceDiagram
    autonumber
    participant A as Alice
    A->>Bob: Hello
    loop every minute
      Bob-->>A: ping
    end
    Note over A,Bob: they talk
    alt ok
      A-xBob: bye
    else not
      Bob->>Bob: waits
    end`, `1. Alice → Bob: Hello
loop every minute
  2. Bob ⇢ Alice: ping
[Alice, Bob: they talk]
alt ok
  3. Alice →× Bob: bye
else not
  4. Bob → Bob: waits`},
		{"classes", `classDiagram
    Animal <|-- Duck
    Animal "1" *-- "n" Leg : has
    class Duck {
      +String name
      +quack()
    }
    Animal : +int age`, `Animal
  +int age
Duck
  +String name
  +quack()
Animal ◁── Duck
Animal 1 ◆── n Leg: has`},
		{"entities", "erDiagram\n  CUSTOMER ||--o{ ORDER : places\n  ORDER {\n    int id PK\n  }", "ORDER\n  int id PK\nCUSTOMER 1 ── 0..n ORDER: places"},
		{"pie", "pie title Pets\n  \"Dogs\" : 3\n  \"Cats\" : 1", "Pets\nDogs  ███████████████░░░░░ 75 %\nCats  █████░░░░░░░░░░░░░░░ 25 %"},
		{"pie of wide letters", "pie\n  \"猫和狗\" : 3\n  \"Birds\" : 1", "猫和狗  ███████████████░░░░░ 75 %\nBirds   █████░░░░░░░░░░░░░░░ 25 %"},
		{"mindmap", "mindmap\n  root((Plan))\n    First\n      a\n    Second", "• Plan\n  • First\n    • a\n  • Second"},
		{"gantt", "gantt\n  title Work\n  dateFormat YYYY\n  section One\n  Do it :a1, 2024-01-01, 3d", "Work\nOne:\n  Do it: a1, 2024-01-01, 3d"},
	} {
		got, ok := Lines(strings.Split(tt.in, "\n"), false)
		if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" || !ok {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestASCII(t *testing.T) {
	got, _ := Lines([]string{"graph TD", "A-->B", "A-- x -->C"}, true)
	if diff := cmp.Diff([]string{"A", "+-> B", "`- x -> C"}, got); diff != "" {
		t.Error(diff)
	}
}

// What is not understood is for the caller to show as it is.
func TestUnknown(t *testing.T) {
	for _, in := range []string{"", "gitGraph\n commit", "flowchart TD\n A --> ", "flowchart TD\n -->", "sequenceDiagram\n what is this", "pie\n \"a\" : x", "graph TD\n" + strings.Repeat("a-->b\n", 2*maxSource),
		"graph TD\nA[" + strings.Repeat("x", 2*maxLine) + "]"} {
		if got, ok := Lines(strings.Split(in, "\n"), false); ok {
			t.Errorf("%.40q is %q", in, got)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("flowchart TD\nA[Start] --> B{ok?}\nB -->|yes| C\nB -- no --> A & D")
	f.Add("sequenceDiagram\nA->>B: x\nloop y\nB-->>A: z\nend")
	f.Add("classDiagram\nA <|-- B\nclass C {\n x\n}")
	f.Add("mindmap\n root((a))\n  b")
	f.Add("pie\n\"a\" : 3")
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := Lines(strings.Split(in, "\n"), len(in)%2 == 0)
		if len(got) > maxDrawn || !ok && got != nil {
			t.Fatalf("%d lines", len(got))
		}
	})
}
