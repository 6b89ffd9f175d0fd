import type { MockBuilder } from '../../devnet/mock-builders/mock-builder.ts';

/** Lets a mock builder keep its acknowledgements back. @returns sends them, and acknowledges at once from then on */
export function holdAcks({ state }: MockBuilder): () => void {
  const { promise: until, resolve } = Promise.withResolvers<void>();
  state.behaviour = { kind: 'held', until };
  return () => {
    state.behaviour = { kind: 'ack' };
    resolve();
  };
}
