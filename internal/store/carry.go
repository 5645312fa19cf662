package store

import "context"

// Carrier hands out and takes rows as they are stored, with their numbers, so that
// everything can be carried from one store to another. All stores have the same tables
// and columns as far as [Carried] lists them; what a server needs only while it runs,
// such as leases, stays behind.
type Carrier interface {
	// Rows returns rows of a table in the order of their keys: those above after, or from
	// the first for nil. There are no more than limit of them, and fewer only at the end.
	Rows(ctx context.Context, t Table, after []any, limit int) ([]Row, error)
	// Count returns how many rows a table has.
	Count(ctx context.Context, t Table) (int64, error)
	// Put adds rows, all or none of them.
	Put(ctx context.Context, t Table, rows []Row) error
}

// Target is a store that is being filled by a move. It serves nobody else until Finish.
type Target interface {
	Carrier
	// Last returns the key of the last row of a table that has some.
	Last(ctx context.Context, t Table) ([]any, error)
	// Clear removes all rows.
	Clear(ctx context.Context) error
	// Finish makes it a store like any other.
	Finish(ctx context.Context) error
	Close() error
}

// Row is a row of a table: a value for each of its columns. By kind these are string,
// int64, bool, []byte for documents (unpacked) and bodies, and []string for names of blobs.
type Row []any

// Table is one that is carried.
type Table struct {
	Name    string
	Key     []string // columns that order it and have no two rows in common
	Columns []Column
	Numbers bool // its column n is counted by the store
}

// Column is a column of a table.
type Column struct {
	Name string
	Kind ColumnKind
}

// ColumnKind says what a column holds.
type ColumnKind int

// The kinds of columns.
const (
	TextColumn ColumnKind = iota
	NumberColumn
	FlagColumn
	DocColumn   // a document, packed by its store
	BlobsColumn // names of bodies
	BodyColumn  // a body itself
)

// KeyOf returns the key of a row.
func (t Table) KeyOf(r Row) []any {
	key := make([]any, 0, len(t.Key))
	for _, k := range t.Key {
		for i, c := range t.Columns {
			if c.Name == k {
				key = append(key, r[i])
			}
		}
	}
	return key
}

// BlobTable is the table of bodies, which a store may keep in files.
const BlobTable = "blob"

// Carried are the tables that are carried, in an order in which rows can be added.
func Carried() []Table {
	text, number, flag := TextColumn, NumberColumn, FlagColumn
	doc := Column{"data", DocColumn}
	blobs := Column{"blobs", BlobsColumn}
	n := Column{"n", number}
	return []Table{
		{Name: "project", Key: []string{"id"}, Columns: []Column{{"id", text}, {"worktree", text}, {"vcs", text}, {"created", number}, {"updated", number}, doc}},
		{Name: "approval", Key: []string{"n"}, Numbers: true, Columns: []Column{n, {"project", text}, {"permission", text}, {"pattern", text}, {"action", text}, {"created", number}}},
		{Name: "session", Key: []string{"n"}, Numbers: true, Columns: []Column{n, {"id", text}, {"project", text}, {"parent", text}, {"directory", text},
			{"title", text}, {"created", number}, {"updated", number}, {"archived", number}, {"messages", number}, doc, blobs}},
		{Name: "message", Key: []string{"n"}, Numbers: true, Columns: []Column{n, {"id", text}, {"session", number}, {"seq", number}, {"role", text},
			{"created", number}, {"open", flag}, {"summary", flag}, {"parts", number}, doc, blobs}},
		{Name: "part", Key: []string{"message", "seq"}, Numbers: true, Columns: []Column{n, {"id", text}, {"message", number}, {"seq", number}, {"kind", text},
			{"open", flag}, {"rev", number}, {"size", number}, doc, blobs}},
		{Name: "boundary", Key: []string{"message"}, Columns: []Column{{"message", number}, {"session", number}, {"seq", number}}},
		{Name: "todo", Key: []string{"session"}, Columns: []Column{{"session", number}, doc}},
		{Name: "session_value", Key: []string{"session", "key"}, Columns: []Column{{"session", number}, {"key", text}, doc}},
		{Name: "session_diff", Key: []string{"session", "message"}, Columns: []Column{{"session", number}, {"message", text}, doc, blobs}},
		{Name: "spent", Key: []string{"message", "session"}, Columns: []Column{{"message", text}, {"session", text}, {"project", text}, {"directory", text}, {"created", number}, doc}},
		{Name: BlobTable, Key: []string{"hash"}, Columns: []Column{{"hash", text}, {"data", BodyColumn}}},
	}
}
