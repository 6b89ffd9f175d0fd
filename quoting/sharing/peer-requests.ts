import type { Address } from 'viem';
import type { RequestedPool } from '../requested/requested-pools.ts';

/** How often a process reports that its requests are unchanged, and how often it lists them again. */
export const REPORT_MS = 3_000;
export const WHOLE_REPORT_MS = 30_000;
/** The requests of a process that reported nothing for this long are dropped. */
export const FORGET_MS = 10_000;

type Pools = readonly RequestedPool[];

/**
 * What is known of the processes of a chain and what these know of this one. All times are of one clock, milliseconds.
 */
export interface PeersState {
  /** By id, what clients request of the other processes, and when each reported last. */
  readonly peers: ReadonlyMap<string, { readonly pools: Pools; readonly at: number }>;
  /** The last report of this process: its pools as text, when it was sent, and when one last listed them. */
  readonly sent: { readonly text: string; readonly at: number; readonly wholeAt: number };
  /** The pools that other processes know to be requested of this one. */
  readonly reported: ReadonlySet<Address>;
}

/** What happened. `own`: what clients request of this process, to be looked up a few times a second. */
export type PeersEvent =
  | { readonly kind: 'report'; readonly id: string; readonly pools: Pools | null }
  | { readonly kind: 'own'; readonly pools: Pools }
  /** This process may have missed messages, and is new to all others. */
  | { readonly kind: 'missed' };

export interface PeersEffects {
  /** What clients request of other processes, if that changed. */
  readonly elsewhere: Pools | null;
  /** Whether a process has its first requests, or missed messages. */
  readonly isNewPeer: boolean;
  /** What to report to the others: all pools, or null if they are the same. Undefined: nothing. */
  readonly report: Pools | null | undefined;
}

const NOTHING: PeersEffects = { elsewhere: null, isNewPeer: false, report: undefined };
const NEVER = Number.NEGATIVE_INFINITY;

export const NO_PEERS: PeersState = {
  peers: new Map(),
  sent: { text: '', at: NEVER, wholeAt: NEVER },
  reported: new Set(),
};

/**
 * What the knowledge of requests becomes, and what is to be done, when something happens.
 *
 * 1. A process that has no requests, and had none, reports nothing.
 * 2. It lists its pools when they change, when a process is new, and each `WHOLE_REPORT_MS`. Else it reports each
 *    `REPORT_MS` that they are the same.
 * 3. Requests of a process count until it reports others, or nothing for `FORGET_MS`.
 */
export function nextPeers(state: PeersState, event: PeersEvent, now: number): readonly [PeersState, PeersEffects] {
  switch (event.kind) {
    case 'report':
      return withReport(state, event.id, event.pools, now);
    case 'own':
      return withOwn(state, event.pools, now);
    case 'missed':
      return [toBeListed(state), NOTHING];
  }
}

/** Whether no other process has requests. */
export const isAlone = ({ peers }: PeersState): boolean => peers.size === 0;

/** Whether there is nothing to report or to forget while this process has no requests. */
export const isUnused = ({ peers, reported }: PeersState): boolean => peers.size === 0 && reported.size === 0;

const toBeListed = (state: PeersState): PeersState => ({ ...state, sent: { ...state.sent, wholeAt: NEVER } });

const poolsOf = (peers: PeersState['peers']): Pools => [...peers.values()].flatMap(({ pools }) => pools);

function withReport(state: PeersState, id: string, pools: Pools | null, now: number) {
  const known = state.peers.get(id);
  const requested = pools ?? known?.pools;
  // A process whose pools are not known yet lists them within half a minute.
  if (!requested) return [state, NOTHING] as const;
  const peers = new Map(state.peers).set(id, { pools: requested, at: now });
  const next = known ? state : toBeListed(state);
  return [
    { ...next, peers },
    { ...NOTHING, elsewhere: pools && poolsOf(peers), isNewPeer: !known },
  ] as const;
}

function withOwn(before: PeersState, pools: Pools, now: number): readonly [PeersState, PeersEffects] {
  const { sent, reported } = before;
  const peers = new Map([...before.peers].filter(([, { at }]) => now - at <= FORGET_MS));
  const elsewhere = peers.size < before.peers.size ? poolsOf(peers) : null;
  const state = elsewhere ? { ...before, peers } : before;
  const text = JSON.stringify(pools);
  const isSilent = pools.length === 0 && reported.size === 0;
  const isWhole = text !== sent.text || now - sent.wholeAt >= WHOLE_REPORT_MS;
  if (isSilent || (!isWhole && now - sent.at < REPORT_MS)) return [state, { ...NOTHING, elsewhere }];
  const next = {
    ...state,
    reported: new Set(pools.map(({ address }) => address)),
    sent: { text, at: now, wholeAt: isWhole ? now : sent.wholeAt },
  };
  return [next, { ...NOTHING, elsewhere, report: isWhole ? pools : null }];
}
