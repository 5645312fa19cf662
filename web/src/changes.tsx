// The files that a session changed, in the lines around the changes or in whole.

import { createTwoFilesPatch } from "diff";
import { useEffect, useState } from "preact/hooks";
import { Diff } from "./diff";
import { get } from "./http";
import { t } from "./i18n";
import { attempt, statuses } from "./state";
import { plain, within } from "./text";
import type { FileDiff } from "./wire";

/** So many bytes are compared in whole at most. */
const most = 400_000;

/** The diff of a file with all of its lines; undefined where its contents are not known. */
export function whole(f: FileDiff): string | undefined {
  const before = f.before ?? "";
  const after = f.after ?? "";
  if ((before === "" && after === "") || before.length + after.length > most) return undefined;
  return createTwoFilesPatch(f.file, f.file, before, after, "", "", { context: Number.MAX_SAFE_INTEGER });
}

export function Change(props: { file: FileDiff; dir: string }) {
  const { file: f } = props;
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState(false);
  const full = open && all ? whole(f) : undefined;
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span class="mono">{plain(within(f.file, props.dir))}</span> <span class="added">+{f.additions}</span> <span class="removed">−{f.deletions}</span>
      </summary>
      {open && (
        <>
          <label class="quiet">
            <input type="checkbox" checked={all} onChange={(e) => setAll(e.currentTarget.checked)} /> {t("wholeFile")}
          </label>
          <Diff patch={full ?? f.patch ?? f.diff ?? whole(f) ?? ""} label={f.file} />
        </>
      )}
    </details>
  );
}

export function Changes(props: { id: string; dir: string; message?: string }) {
  const [list, setList] = useState<FileDiff[]>();
  const busy = statuses.value.has(props.id);
  useEffect(() => {
    void attempt(get<FileDiff[]>(`/session/${props.id}/diff`, props.message === undefined ? {} : { messageID: props.message })).then(setList);
  }, [props.id, props.message, busy]);
  return (
    <section class="panel" aria-label={t("changed")}>
      {!list && <p class="quiet">{t("loading")}</p>}
      {list?.length === 0 && <p class="quiet">{t("empty")}</p>}
      {list?.map((f) => (
        <Change key={f.file} file={f} dir={props.dir} />
      ))}
    </section>
  );
}
