import { isAtLeast, isSameView } from '../../chain/part-view.ts';
import { pendingPart } from '../../chain/pending-part.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';

/**
 * The part that the calls of a round run on. Nodes may be at a later part of the block than the head: then that one is
 * taken, if all calls of the round show it.
 */
export class ShownPart {
  /** The block to make the calls at. */
  readonly block: BlockRef;
  readonly #head: BlockRef;
  #view: PartView | undefined;

  constructor(head: BlockRef) {
    const { pending } = head;
    this.#head = head;
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

  #takes(view: PartView): boolean {
    const part = this.#head.pending?.part;
    if (!part || !isAtLeast(view, part.view)) return false;
    this.#view ??= view;
    return isSameView(view, this.#view);
  }
}
