/** A window that was opened at a head. Times are Unix milliseconds. */
export interface OpenWindow<W> {
  readonly number: bigint;
  readonly openedAt: number;
  /** What the one who opened it keeps of it. */
  readonly content: W;
}

export type WindowEvent<W> =
  /** Time passed. `draw`: a random number from 0 to 1, without 1. */
  | { readonly kind: 'time'; readonly draw: number }
  /** The window was opened at this head. */
  | { readonly kind: 'opened'; readonly number: bigint; readonly content: W }
  /** The newest block that was seen. */
  | { readonly kind: 'head'; readonly number: bigint };

export interface WindowState<W> {
  /** The minute that was planned last, counted since 1970, and when its window opens; null: it is due no more. */
  readonly minute: number;
  readonly opensAt: number | null;
  /** Windows whose last block was not seen yet, oldest first. */
  readonly open: readonly OpenWindow<W>[];
  readonly lookedAt: number;
}

export interface WindowEffects<W> {
  /** Whether to open a window at the head. */
  readonly open: boolean;
  /** Whether to look for the head. */
  readonly look: boolean;
  /** Windows whose blocks can be read now. */
  readonly close: readonly OpenWindow<W>[];
}

/** A window ends this many blocks after its first one. */
export const WINDOW_BLOCKS = 5n;
/** A window whose last block was not seen for so long is given up: nodes may not hold the state of its first one. */
export const MAX_OPEN_MS = 300_000;
const MINUTE_MS = 60_000;
/** Heads are looked for this often while a window waits for its last block. */
export const LOOK_MS = 2_000;

export const noWindow: WindowState<never> = { minute: -1, opensAt: null, open: [], lookedAt: Number.NEGATIVE_INFINITY };

/**
 * When windows of blocks open and close, in which quotes are compared.
 *
 * 1. One window opens in each minute at most, at a random moment of it or at the first time seen after that.
 * 2. A window closes once, when the block `WINDOW_BLOCKS` after its own was seen.
 * 3. None is open for longer than `MAX_OPEN_MS`.
 * 4. Heads are looked for while a window is open that is as old as its blocks take, once in `LOOK_MS`.
 *
 * @param blockTimeMs of the chain
 */
export function nextWindow<W>(
  before: WindowState<W>,
  event: WindowEvent<W>,
  now: number,
  blockTimeMs: number,
): readonly [WindowState<W>, WindowEffects<W>] {
  const kept = before.open.filter(({ openedAt }) => now - openedAt <= MAX_OPEN_MS);
  const state = { ...before, open: kept };
  if (event.kind === 'opened') {
    const window = { number: event.number, openedAt: now, content: event.content };
    return [{ ...state, open: [...kept, window] }, NOTHING];
  }
  if (event.kind === 'head') {
    const isOver = ({ number }: OpenWindow<W>) => event.number >= number + WINDOW_BLOCKS;
    const close = kept.filter(isOver);
    return [
      { ...state, open: kept.filter((window) => !isOver(window)) },
      { ...NOTHING, close },
    ];
  }
  const planned = planMinute(state, event.draw, now);
  const open = planned.opensAt !== null && now >= planned.opensAt;
  const takesMs = Number(WINDOW_BLOCKS) * blockTimeMs;
  const look = now - state.lookedAt >= LOOK_MS && kept.some(({ openedAt }) => now - openedAt >= takesMs);
  const next = { ...planned, opensAt: open ? null : planned.opensAt, lookedAt: look ? now : state.lookedAt };
  return [next, { open, look, close: [] }];
}

const NOTHING = { open: false, look: false, close: [] } as const;

function planMinute<W>(state: WindowState<W>, draw: number, now: number): WindowState<W> {
  const minute = Math.floor(now / MINUTE_MS);
  if (minute === state.minute) return state;
  return { ...state, minute, opensAt: minute * MINUTE_MS + Math.floor(draw * MINUTE_MS) };
}
