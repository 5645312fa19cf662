package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The benchmarks take the figures of docs/benchmarks.md. They assert nothing: what a
// machine needs for them depends on what else it does.
//
//	LATHE_CHROMIUM=/usr/bin/chromium go test -run - -bench . -benchtime 1x ./web

const manyMessages = 10_000

// number evaluates an expression that is a number, or promises one.
func (s *site) number(ctx context.Context, expression string) float64 {
	s.t.Helper()
	n, err := chromedp.Run(ctx, chromedp.Evaluate[float64](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		s.t.Fatalf("%s: %v", expression, err)
	}
	return n
}

// BenchmarkFirstPaint opens the page in a browser that was just started and has never seen
// it ("cold", which counts what the browser itself has to load; it is the login that is
// drawn), then logs in and opens it again ("warm").
func BenchmarkFirstPaint(b *testing.B) {
	s := newSite(b, "text Fine.\n")
	ctx := s.browser(1280, 860)
	painted := func() float64 {
		return s.number(ctx, `new Promise((done) => new PerformanceObserver((list) => {
			for (const e of list.getEntries()) if (e.name === "first-contentful-paint") done(e.startTime);
		}).observe({type: "paint", buffered: true}))`)
	}
	s.do(ctx, chromedp.Navigate(s.url), chromedp.WaitVisible(`input[type=password]`))
	cold := painted()
	s.do(ctx, s.login())
	for b.Loop() {
		s.do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url), until(`performance.getEntriesByName("lathe-ready").length`))
		b.ReportMetric(cold, "ms/paint-cold")
		b.ReportMetric(painted(), "ms/paint")
		b.ReportMetric(s.number(ctx, `performance.getEntriesByName("lathe-ready")[0].startTime`), "ms/usable")
	}
}

// BenchmarkOpenLong opens a session of 10,000 messages, until its end is drawn.
func BenchmarkOpenLong(b *testing.B) {
	s := newSite(b, "text Fine.\n")
	const id = "ses_100000000000AAAAAAAAAAAAAA"
	s.imported(manyMessages, id)
	ctx := s.browser(1280, 860)
	s.do(ctx, s.login())
	for b.Loop() {
		s.do(ctx, until(`(location.hash = "#/")`), until(`document.querySelector(".start")`))
		b.ReportMetric(s.number(ctx, `new Promise((done) => {
			const from = performance.now();
			location.hash = "#/s/`+id+`";
			const look = () => {
				const box = document.querySelector(".scroll");
				if (!box?.innerText.includes("Answer 9999.") || box.scrollHeight - box.scrollTop - box.clientHeight > 40) return requestAnimationFrame(look);
				requestAnimationFrame(() => done(performance.now() - from));
			};
			look();
		})`), "ms/open")
	}
}

// scrolling wheels through a conversation, a screen every few pictures, and tells how
// long each picture took.
const scrolling = `new Promise((done) => {
	const box = document.querySelector(".scroll");
	const frames = [];
	let last = performance.now();
	let seen = 0;
	const began = last;
	const step = (now) => {
		frames.push(now - last);
		last = now;
		box.scrollTop -= 120;
		seen = Math.max(seen, document.querySelectorAll(".message").length);
		if (now - began < 15000) return requestAnimationFrame(step);
		frames.sort((a, b) => a - b);
		window.frames_ = frames;
		window.held = seen;
		done(frames.length);
	};
	requestAnimationFrame(step);
})`

// BenchmarkScroll reads backwards in a session of 10,000 messages for 15 s.
func BenchmarkScroll(b *testing.B) {
	s := newSite(b, "text Fine.\n")
	const id = "ses_100000000000AAAAAAAAAAAAAA"
	s.imported(manyMessages, id)
	ctx := s.browser(1280, 860)
	s.do(ctx, s.login())
	for b.Loop() {
		s.do(ctx, until(`(location.hash = "#/")`), until(`(location.hash = "#/s/`+id+`")`), shows("Answer 9999."))
		n := s.number(ctx, scrolling)
		b.ReportMetric(n/15, "frames/s")
		b.ReportMetric(s.number(ctx, `window.frames_[Math.floor(window.frames_.length * 0.99)]`), "ms/p99")
		b.ReportMetric(s.number(ctx, `window.frames_.at(-1)`), "ms/worst")
		b.ReportMetric(s.number(ctx, `window.frames_.filter((f) => f > 50).length`), "over50ms")
		b.ReportMetric(s.number(ctx, `window.held`), "messages-held")
	}
}

// BenchmarkStream watches an answer of 1,000 tokens a second for 20 s.
func BenchmarkStream(b *testing.B) {
	const life = 20 * time.Second
	s := newSiteWith(b, "text Fine.\n", streaming(b, 1000, life, prose))
	ctx := s.browser(1280, 860)
	s.do(ctx, s.login(), press("New session"))
	for b.Loop() {
		s.do(ctx, say("go on"), shows("The parser reads"))
		before := rendererCPU(b)
		s.number(ctx, `new Promise((done) => setTimeout(() => done(0), 8000))`) // nothing but the page itself draws now
		b.ReportMetric((rendererCPU(b)-before).Seconds()/8*100, "%core")
		n := s.number(ctx, `new Promise((done) => {
			const frames = [];
			let last = performance.now();
			const began = last;
			const step = (now) => {
				frames.push(now - last);
				last = now;
				if (now - began < 8000) return requestAnimationFrame(step);
				frames.sort((a, b) => a - b);
				window.frames_ = frames;
				done(frames.length);
			};
			requestAnimationFrame(step);
		})`)
		b.ReportMetric(n/8, "frames/s")
		b.ReportMetric(s.number(ctx, `window.frames_.at(-1)`), "ms/worst")
		b.ReportMetric(s.number(ctx, `window.frames_.filter((f) => f > 50).length`), "over50ms")
		s.do(ctx, hides("Working…"))
	}
}

// BenchmarkMemory opens 20 sessions one after the other, back and forth, and looks at
// what the processes that draw hold: seconds after that, and when the browser has rested
// long enough to give back what it kept for more of the same. One of them draws the
// browser's own tool bar, one is kept in reserve.
func BenchmarkMemory(b *testing.B) {
	s := newSite(b, "text Fine.\n")
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = fmt.Sprintf("ses_1000000000%02xAAAAAAAAAAAAAA", i)
		s.imported(500, ids[i])
	}
	ctx := s.browser(1280, 860)
	s.do(ctx, s.login())
	before := rendererMemory(b)
	for b.Loop() {
		for range 3 {
			for _, id := range ids {
				s.do(ctx, until(`(location.hash = "#/s/`+id+`")`), shows("Answer 499."), until(`(document.querySelector(".scroll").scrollTop = 0, true)`))
			}
		}
		s.number(ctx, `new Promise((done) => setTimeout(() => { gc(); setTimeout(() => { gc(); done(0); }, 3000); }, 1000))`) // what is held, not what waits to be given back
		b.ReportMetric(s.number(ctx, `performance.memory.usedJSHeapSize / 1e6`), "MB/heap")
		b.ReportMetric(before/1e6, "MB/renderer-before")
		b.ReportMetric(rendererMemory(b)/1e6, "MB/renderer")
		b.ReportMetric(float64(len(renderers(b))), "renderers")
		s.number(ctx, `new Promise((done) => setTimeout(() => done(0), 20000))`)
		b.ReportMetric(rendererMemory(b)/1e6, "MB/renderer-rested")
	}
}

// renderers returns the processes of browsers that draw pages and were started by this one.
func renderers(b *testing.B) (pids []int) {
	b.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		b.Skip("there is no /proc here")
	}
	parent := map[int]int{}
	var all []int
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if f := stat(pid); len(f) > 1 {
			parent[pid], _ = strconv.Atoi(f[1])
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(line), "--type=renderer") {
			all = append(all, pid)
		}
	}
	for _, pid := range all {
		for at := pid; at > 1; at = parent[at] {
			if at == os.Getpid() {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// stat returns the fields of a process's status after its name.
func stat(pid int) []string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.Fields(rest)
}

func rendererCPU(b *testing.B) (sum time.Duration) {
	for _, pid := range renderers(b) {
		if f := stat(pid); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			sum += time.Duration(user+system) * 10 * time.Millisecond // a tick
		}
	}
	return sum
}

// rendererMemory returns what renderers hold that nothing else does.
func rendererMemory(b *testing.B) (sum float64) {
	for _, pid := range renderers(b) {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		for line := range strings.Lines(string(data)) {
			if name, rest, _ := strings.Cut(line, ":"); name == "Private_Dirty" || name == "Private_Clean" {
				n, _ := strconv.Atoi(strings.Fields(rest)[0])
				sum += float64(n) * 1024
			}
		}
	}
	return sum
}
