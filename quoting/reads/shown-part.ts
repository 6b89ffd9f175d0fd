import { isAtLeast, isSameView, OtherPart } from '../../chain/part-view.ts';
import { pendingPart } from '../../chain/pending-part.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { OtherAnswers } from '../calls/answers-digest.ts';
import type { Watched } from '../calls/pool-calls.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { PoolGas } from './pool-gas.ts';
import type { ShownAnswers } from './shown-answers.ts';

/**
 * The part that the calls of a round run on. Nodes may be at a later part of the block than the head: then that one is
 * taken, if all calls of the round show it.
 */
export class ShownPart {
  /** The block to make the calls at. */
  readonly block: BlockRef;
  readonly #head: BlockRef;
  readonly #answers: Pick<ShownAnswers, 'others' | 'othersSoon' | 'gas'> | undefined;
  #view: PartView | undefined;

  /** @param answers what calls showed with parts */
  constructor(head: BlockRef, answers?: Pick<ShownAnswers, 'others' | 'othersSoon' | 'gas'>) {
    const { pending } = head;
    this.#head = head;
    this.#answers = answers;
    const takes = (view: PartView) => this.#takes(view);
    this.block = pending?.part ? { ...head, pending: { ...pending, part: { ...pending.part, takes } } } : head;
  }

  /** The block that the calls were made at: the head itself, unless they ran on a later part. */
  get shown(): BlockRef {
    const { pending } = this.#head;
    const view = this.#view;
    if (!pending?.part || !view) return this.#head;
    const { part } = pending;
    if (!isSameView(view, part.view))
      return { ...this.#head, pending: pendingPart({ ...part, view, index: null }, pending.receivedAt) };
    if (view.node === part.view.node) return this.#head;
    // Another node is at the same part.
    return { ...this.#head, pending: { ...pending, part: { ...part, view: { ...part.view, node: view.node } } } };
  }

  /** What calls after parts take; undefined at any other block. */
  get gas(): PoolGas | undefined {
    return this.#head.pending?.part && this.#answers?.gas;
  }

  /** What a pool answers at the head; undefined unless that was shown, with the code of the accounts that count. */
  othersAtHead(pool: ServedPool, watched: Watched | undefined): OtherAnswers | undefined {
    const others = this.#answers?.others(this.#head, pool);
    return `${others?.watched}` === `${watched}` ? others : undefined;
  }

  /** What a pool answers at the block of the calls, its own prices aside. @throws OtherPart where it was not shown */
  async others(pool: ServedPool): Promise<OtherAnswers> {
    const { shown } = this;
    const others = await this.#answers?.othersSoon(shown, pool);
    if (others) return others;
    throw shown.pending?.part ? new OtherPart(shown.pending.part.view) : new TypeError('nothing was shown of the pool');
  }

  #takes(view: PartView): boolean {
    const part = this.#head.pending?.part;
    if (!part || !isAtLeast(view, part.view)) return false;
    this.#view ??= view;
    return isSameView(view, this.#view);
  }
}
