// Package bench measures whole runs of the lathe program beside a floor: a bare
// loop over the same model server, without storage, permissions or snapshots,
// in the same process of measuring. Read the ratios; they hold across machines.
//
//	go test -bench . -benchtime 10x ./bench
package bench
