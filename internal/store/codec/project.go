package codec

import (
	"encoding/json"

	"lathe"
)

// projectDoc is what a person set about a project.
type projectDoc struct {
	Name     string `json:"name,omitempty"`
	IconURL  string `json:"iconURL,omitempty"`
	Override string `json:"iconOverride,omitempty"`
	Color    string `json:"iconColor,omitempty"`
	Start    string `json:"start,omitempty"`
	StartIn  string `json:"startIn,omitempty"`
}

// Project returns the document of a project: what is no column.
func Project(p *lathe.Project) ([]byte, error) {
	return Marshal(projectDoc{p.Name, p.Icon.URL, p.Icon.Override, p.Icon.Color, p.Start, p.StartIn})
}

// ParseProject fills in what is no column.
func ParseProject(data []byte, p *lathe.Project) error {
	var doc projectDoc
	err := json.Unmarshal(data, &doc)
	p.Name, p.Icon = doc.Name, lathe.Icon{URL: doc.IconURL, Override: doc.Override, Color: doc.Color}
	p.Start, p.StartIn = doc.Start, doc.StartIn
	return err
}
