import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { HeadTracker } from '../heads/head-tracker.ts';
import type { NamedTarget } from '../live/target-block.ts';
import { parseHeight, writeHeight } from './messages.ts';

export interface SharedHeadsDeps {
  readonly heads: Pick<HeadTracker<ReportedHead>, 'current' | 'onHead' | 'hear'>;
  readonly target: Pick<NamedTarget, 'number' | 'hear' | 'onRaised'>;
  /** Sends a text to all other processes, and resolves when it is on its way. Handles its failures itself. */
  readonly publish: (text: string) => Promise<void>;
}

/**
 * Tells other processes of each head that this one takes, before anything is read at it, and hears of theirs: a reader
 * who goes from one process to another sees no older block there. So it does of a block being built that it names
 * higher than others would. No process takes a head for that, which nodes alone give.
 */
export class SharedHeads {
  readonly #deps: SharedHeadsDeps;

  constructor(deps: SharedHeadsDeps) {
    this.#deps = deps;
    deps.heads.onHead(() => this.#publishHeight());
    deps.target.onRaised(() => void this.#publishHeight());
  }

  /** Asks the other processes for their heads. */
  ask(): void {
    void this.#deps.publish(writeHeight(null));
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(text: string): void {
    const { id, number, target } = parseHeight(text);
    if (number === null) {
      void this.#publishHeight();
      return;
    }
    this.#deps.target.hear(id, target);
    this.#deps.heads.hear(id, number);
  }

  async #publishHeight(): Promise<void> {
    const { heads, target, publish } = this.#deps;
    if (heads.current) await publish(writeHeight(heads.current.block.number, target.number));
  }
}
