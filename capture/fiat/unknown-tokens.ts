import type { Clock } from '../../chain/circuit-breaker.ts';
import type { TokenKey } from './token-key.ts';

export type UnknownTokensRules = {
  /** Most tokens that have their turn in a round. */
  readonly perRound: number;
  /** Pause after a token was unknown for the first time; it doubles with each further time, up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
};

/** Whose turn it is to be asked for, among tokens that a service never priced. */
export class UnknownTokens {
  readonly #rules: UnknownTokensRules;
  readonly #now: Clock;
  readonly #turns = new Map<TokenKey, { readonly dueAt: number; readonly pauseMs: number }>();

  constructor(rules: UnknownTokensRules, now: Clock = () => performance.now()) {
    this.#rules = rules;
    this.#now = now;
  }

  /** Those whose turn it is: the ones due longest first, new ones in the order given. */
  due<T extends { readonly token: TokenKey }>(tokens: readonly T[]): T[] {
    const now = this.#now();
    const due: { readonly item: T; readonly dueAt: number }[] = [];
    for (const item of tokens) {
      const turn = this.#turns.get(item.token) ?? { dueAt: now, pauseMs: 0 };
      this.#turns.set(item.token, turn);
      if (turn.dueAt <= now) due.push({ item, dueAt: turn.dueAt });
    }
    const inOrder = due.sort((a, b) => a.dueAt - b.dueAt);
    return inOrder.slice(0, this.#rules.perRound).map(({ item }) => item);
  }

  /** Tells that the service does not know a token. */
  pause(token: TokenKey): void {
    const { firstPauseMs, longestPauseMs } = this.#rules;
    const before = this.#turns.get(token)?.pauseMs ?? 0;
    const pauseMs = Math.min(Math.max(before * 2, firstPauseMs), longestPauseMs);
    this.#turns.set(token, { dueAt: this.#now() + pauseMs, pauseMs });
  }
}
