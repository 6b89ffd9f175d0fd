import type { Hex } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { HeadTracker } from '../heads/head-tracker.ts';
import { parseHead, writeHead } from './messages.ts';

export interface SharedHeadsDeps {
  readonly heads: Pick<HeadTracker<ReportedHead>, 'announced' | 'onHead' | 'pushShared'>;
  /** Sends a text to all other processes. Handles its failures itself. */
  readonly publish: (text: string) => void;
}

/**
 * Tells other processes of each head that this one takes, before anything is read at it, and takes theirs: a reader who
 * goes from one process to another sees no older block there.
 */
export class SharedHeads {
  readonly #deps: SharedHeadsDeps;
  /** The last head that another process shared. */
  #heard: Hex | undefined;

  constructor(deps: SharedHeadsDeps) {
    this.#deps = deps;
    deps.heads.onHead(({ block }) => {
      if (block.hash !== this.#heard) deps.publish(writeHead(block));
    });
  }

  /** Asks the other processes for their heads. */
  ask(): void {
    this.#deps.publish(writeHead(null));
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(text: string): void {
    const { heads, publish } = this.#deps;
    const block = parseHead(text);
    if (block) {
      this.#heard = block.hash;
      heads.pushShared({ block, endpoint: null });
    } else if (heads.announced) publish(writeHead(heads.announced.block));
  }
}
