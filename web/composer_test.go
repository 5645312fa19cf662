package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// given hands files to the prompt box as a browser does when somebody pastes or drops
// them: a picture of one dot and a text.
func given(event string) step {
	return until(fmt.Sprintf(`(() => {
		const dot = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0));
		const data = new DataTransfer();
		data.items.add(new File([dot], "dot.png", {type: "image/png"}));
		data.items.add(new File(["some 文字"], "notes.txt", {type: "text/plain"}));
		const init = {bubbles: true, cancelable: true};
		const e = %q === "paste" ? new ClipboardEvent("paste", {...init, clipboardData: data}) : new DragEvent("drop", {...init, dataTransfer: data});
		document.querySelector(".composer textarea").dispatchEvent(e);
		return e.defaultPrevented;
	})()`, event))
}

// TestAttach pastes and drops a picture and a text, takes one back, and sends them.
func TestAttach(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	ctx := s.browser(1000, 800)
	chips := func(n int) step {
		return until(fmt.Sprintf(`document.querySelectorAll(".chips .chip").length === %d`, n))
	}
	s.do(ctx, s.login(), press("New session"), chromedp.WaitVisible(`.composer textarea`), given("paste"), chips(2), given("drop"), chips(4), picture("attached"),
		press("dot.png ×"), chips(3), press("notes.txt ×"), chips(2), chromedp.SetUploadFiles(`.composer input[type=file]`, []string{s.dir + "/main.go"}), chips(3),
		say("look at these"), shows("Fine."), chips(0),
		until(`document.querySelector(".message.mine img.picture")?.naturalWidth === 1`), until(`document.querySelector(".message.mine").innerText.includes("main.go")`))
	if list := s.problems.take(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

// TestDraft writes without sending, closes the page and goes on; what was sent comes back
// with the arrow keys, also after that.
func TestDraft(t *testing.T) {
	s := newSite(t, "text Fine.\n")
	ctx := s.browser(1000, 800)
	holds := func(text string) step {
		return until(fmt.Sprintf(`document.querySelector(".composer textarea")?.value === %q`, text))
	}
	key := func(name string) step {
		return until(fmt.Sprintf(`(() => {
			const b = document.querySelector(".composer textarea");
			if (%q === "ArrowUp") b.setSelectionRange(0, 0); else b.setSelectionRange(b.value.length, b.value.length);
			b.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: true}));
			return true;
		})()`, name, name))
	}
	s.do(ctx, s.login(), press("New session"), say("the first"), shows("Fine."), hides("Working…"), say("第二"), until(`document.querySelectorAll(".message.mine").length === 2`), hides("Working…"),
		chromedp.SendKeys(`.composer textarea`, "not sent yet 还没"), until(`localStorage.getItem("lathe.drafts")?.includes("还没")`),
		chromedp.Reload(), holds("not sent yet 还没"),
		until(`(() => { const b = document.querySelector(".composer textarea"); b.value = ""; b.dispatchEvent(new InputEvent("input", {bubbles: true})); return true; })()`), holds(""),
		key("ArrowUp"), holds("第二"), key("ArrowUp"), holds("the first"), key("ArrowDown"), holds("第二"), key("ArrowDown"), holds(""))
}
