package gate

import "time"

// WriteTimeout bounds how long a client may take to read an answer, or one frame
// of a stream.
const WriteTimeout = 30 * time.Second

// WriteUntil is when so many bytes have to be written: a slow line gets the time.
func WriteUntil(size int) time.Time {
	return time.Now().Add(WriteTimeout + time.Duration(size>>10)*time.Millisecond)
}
