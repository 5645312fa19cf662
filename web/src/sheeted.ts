// A document for the terminal's library, which writes style elements and style
// attributes. The page's policy allows neither; it allows sheets and properties that
// scripts set, which can name no address that the policy does not allow. So the library
// is handed this document in place of the page's, and what it makes by it writes there.

/** The page's own way to make an element, whatever stands in its place for a while. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- of its overloads this takes the last
const make: (name: string) => HTMLElement = document.createElement.bind(document);

/** An element that takes the text of a style element and puts it into a sheet of its own. */
function styleElement(doc: Document): HTMLElement {
  const e = make("span");
  const sheet = new CSSStyleSheet();
  let text = "";
  e.hidden = true;
  doc.adoptedStyleSheets.push(sheet);
  Object.defineProperty(e, "textContent", {
    get: () => text,
    set(v: string) {
      text = v;
      sheet.replaceSync(v);
    },
  });
  e.remove = () => {
    doc.adoptedStyleSheets = doc.adoptedStyleSheets.filter((s) => s !== sheet);
    HTMLElement.prototype.remove.call(e);
  };
  return e;
}

/** Makes a style attribute that a script sets mean the properties in it, for all elements from now on. */
export function styleByProperties(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called on the element
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name: string, value: string) {
    if (name === "style" && this instanceof HTMLElement) this.style.cssText = value;
    else set.call(this, name, value);
  };
}

function creator(doc: Document): (name: string) => HTMLElement {
  return (name) => (name === "style" ? styleElement(doc) : make(name));
}

/** The document to hand to the library. */
export function sheeted(doc: Document): Document {
  const create = creator(doc);
  return new Proxy(doc, {
    get(target, key) {
      if (key === "createElement") return create;
      const v: unknown = Reflect.get(target, key);
      return typeof v === "function" ? (v.bind(target) as unknown) : v;
    },
    set: (target, key, value) => Reflect.set(target, key, value),
  });
}

/**
 * Runs something that takes the page's own document in spite of the one it was handed:
 * the library does where it makes its scroll bar (its CoreBrowserService).
 */
export function whileSheeted(doc: Document, run: () => void): void {
  Object.defineProperty(doc, "createElement", { value: creator(doc), configurable: true });
  try {
    run();
  } finally {
    Reflect.deleteProperty(doc, "createElement");
  }
}
