import type { Answer } from '../../submit/answer.ts';
import type { QuoteUpdate } from '../../submit/quote-update.ts';
import { sanitizeBuilderText } from '../builder-text.ts';

/** How a builder that takes updates one by one is spoken to. */
export interface StreamCodec {
  /** Header that carries the key. */
  readonly keyHeader: string;
  /** Whether an `http(s)` URL means that each message is an HTTP request. */
  readonly hasHttp: boolean;
  readonly encode: (update: QuoteUpdate) => Uint8Array | string;
  /** @throws Error when the message is not an acknowledgement */
  readonly decode: (message: Buffer) => Acknowledgement;
}

/** The builder's answer to the update with this {@link updateKey}. */
export interface Acknowledgement {
  readonly key: string;
  readonly answer: Answer;
}

/** Key under which an update waits for its acknowledgement. */
export const updateKey = (update: Pick<QuoteUpdate, 'replacementUuid' | 'replacementSeqNumber'>): string =>
  `${update.replacementUuid}:${update.replacementSeqNumber}`;

/** What a builder says of an update. @param error empty when it took the update; @param timestampNs 0: not said */
export function acknowledgement(error: string, timestampNs: bigint): Answer {
  if (error !== '') return { accepted: false, error: sanitizeBuilderText(error) };
  return timestampNs === 0n ? { accepted: true } : { accepted: true, timestampNs };
}
