import type { Heads } from '../../quoting/heads/heads.ts';
import type { Frame } from '../../quoting/live/frame.ts';
import { isIdle, nextOwn, noUpdates, type OwnEvent } from '../../quoting/live/next-own.ts';
import { parseOwnUpdate } from '../../quoting/live/own-update.ts';
import type { OwnTrace } from '../../quoting/live/own-updates.ts';
import { wordsOf } from './virtual-source.ts';

export interface OwnShell {
  readonly blockTimeMs: number;
  readonly heads: Pick<Heads, 'announced' | 'head'>;
  readonly listen: (listener: (text: string) => void) => () => void;
  readonly onFrame: (frame: Frame) => boolean;
  /** Whether nodes trace now. */
  readonly canTrace: () => boolean;
}

const TICK_MS = 20;
const TRACE_MS = 25;

/** The transaction of an update that sets the price of a pool. */
export const txOf = (pool: number, price: bigint): `0x${string}` =>
  `0x${pool.toString(16).padStart(2, '0')}${price.toString(16).padStart(16, '0')}`;

/**
 * The source of published updates: does what `nextOwn` says. Its transactions are not signed, which takes longer than all
 * else, and it has no timer while it is idle.
 *
 * @returns ends it
 */
export function openOwnUpdates({ blockTimeMs, heads, listen, onFrame, canTrace }: OwnShell): () => void {
  let state = noUpdates;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const head = () => heads.announced?.block;
  const take = (event: OwnEvent): void => {
    const [next, { frame, trace, poll }] = nextOwn(state, event, performance.now(), blockTimeMs);
    state = next;
    if (isClosed) return;
    if (isIdle(state)) clearInterval(timer);
    if (isIdle(state)) timer = undefined;
    else timer ??= setInterval(() => take({ kind: 'time', canTrace: canTrace(), head: head() }), TICK_MS);
    if (frame) onFrame(frame);
    if (trace) setTimeout(() => take(traced(trace)), TRACE_MS);
    if (poll) heads.head().catch(() => undefined);
  };
  const traced = (trace: OwnTrace): OwnEvent => {
    if (!canTrace()) return { kind: 'failed', trace, head: head() };
    const { tx } = trace.update;
    const overrides = wordsOf(Number(tx.slice(0, 4)), BigInt(`0x${tx.slice(4)}`));
    return { kind: 'traced', trace, overrides, head: head() };
  };
  const stop = listen((text) => take({ kind: 'update', update: parseOwnUpdate(text), head: head() }));
  return () => {
    isClosed = true;
    clearInterval(timer);
    stop();
  };
}
