import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "./i18n";
import { plain } from "./text";

/** A component whose code is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return function Lazy(props: P) {
    const [Loaded, setLoaded] = useState<ComponentType<P>>();
    const [why, setWhy] = useState("");
    useEffect(() => {
      load().then(
        (c) => setLoaded(() => c),
        (err: unknown) => setWhy(err instanceof Error ? err.message : String(err)),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    return <p class={why === "" ? "quiet panel" : "bad panel"}>{why === "" ? t("loading") : plain(why)}</p>;
  };
}
