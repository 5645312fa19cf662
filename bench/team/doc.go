// Package team checks what several servers and workers on one PostgreSQL promise, over
// rounds of random faults; see [TestHistory].
package team
