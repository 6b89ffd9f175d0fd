/** The pool rejected the swap, or its price provider has no price. */
export class SwapRevertedError extends Error {
  override readonly name = 'SwapRevertedError';
  /** The first four bytes of `data`, which name the error; null where the swap reverted without data. */
  readonly selector: string | null;
  /** What the swap reverted with, hex. */
  readonly data: string;

  constructor(data: string) {
    const selector = data.length >= 10 ? data.slice(0, 10) : null;
    super(`The swap reverted ${selector ? `with the error ${selector}` : 'without an error'}`);
    this.selector = selector;
    this.data = data;
  }
}

/** The node did not apply the overrides of state and block, so that it cannot simulate: use another node. */
export class OverridesIgnoredError extends Error {
  override readonly name = 'OverridesIgnoredError';

  constructor() {
    super('The node ignored the overrides of state or block: use another node');
  }
}
