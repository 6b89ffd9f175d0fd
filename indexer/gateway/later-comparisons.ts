import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import type { LogDigest } from './compare-logs.ts';
import type { AskedNodes } from './node-judge.ts';

/** An answer of a node that is compared later with that of a second one. */
export interface LaterComparison extends AskedNodes {
  /** What the first node gave. */
  readonly given: LogDigest;
}

/** Questions may name a thousand addresses each: so many characters of them wait at most. */
export const MAX_WAITING_CHARS = 16_000_000;

/** Answers that wait to be compared, the first ones first. */
export class LaterComparisons {
  readonly #waiting: (Omit<LaterComparison, 'question'> & { readonly question: string })[] = [];
  #chars = 0;

  /** The second node of the next one. */
  get second(): RpcEndpoint | undefined {
    return this.#waiting[0]?.second;
  }

  /** @returns whether there was room */
  add({ question: { method, params }, ...comparison }: LaterComparison): boolean {
    const question = JSON.stringify({ method, params });
    if (this.#chars + question.length > MAX_WAITING_CHARS) return false;
    this.#chars += question.length;
    this.#waiting.push({ ...comparison, question });
    return true;
  }

  take(): LaterComparison | undefined {
    const next = this.#waiting.shift();
    if (next === undefined) return undefined;
    this.#chars -= next.question.length;
    return { ...next, question: JSON.parse(next.question) };
  }
}
