// Package share publishes sessions on a share service and sends it what changes in
// them (share.go). Changes are noted while the bus publishes them and sent by
// goroutines of the package's own (queue.go), in the service's form (api.go): nothing
// of the engine ever waits for the service.
package share
