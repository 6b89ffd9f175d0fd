import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keep, kept } from '../kept.ts';

const KEYS = [
  ['?', 'show or hide these keys'],
  ['/', 'search pools'],
  ['j, k', 'next and previous pool'],
  ['f', 'mark the pool as a favourite, or no longer'],
] as const;

const OFF = 'keys-off';

/** Moves the focus to the link of another row. */
function move(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('tr[data-pool] th > a')];
  const row = document.activeElement?.closest('tr[data-pool]') ?? null;
  const at = links.findIndex((link) => row?.contains(link));
  links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
  j: () => move(1),
  k: () => move(-1),
  f: () => document.activeElement?.closest('tr[data-pool]')?.querySelector<HTMLElement>('button.star')?.click(),
};

const isTyping = ({ target }: Event) => target instanceof Element && target.closest('input, select, textarea') !== null;

/** Keys of one letter, and the list of them. A reader whose tools send such keys can turn them off. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [areOff, turn] = useState(() => kept(OFF) === '1');
  // They work as soon as they are shown.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (event.key === '?') dialog.current?.[dialog.current.open ? 'close' : 'showModal']();
      const action = areOff || dialog.current?.open ? undefined : ACTIONS[event.key];
      if (action) event.preventDefault();
      action?.();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [areOff]);
  const onChange = () => {
    keep(OFF, areOff ? '' : '1');
    turn(!areOff);
  };
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <dl>
          {KEYS.map(([key, meaning]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label class="check">
          <input type="checkbox" checked={!areOff} onChange={onChange} />
          keys are on
        </label>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
