import type { Hex } from './quote-update.ts';

/** The answer to one update, by a builder or by the service in its place. */
export type Answer =
  | { readonly accepted: true; readonly timestampNs?: bigint; readonly bundleHash?: Hex }
  | { readonly accepted: false; readonly error: string };

/** Message to an API process with the answer to one of its submissions. */
export type AnswerNotice = {
  readonly submissionId: string;
  readonly endpointId: string;
  readonly answer: Answer;
};

const SKIPPED = 'skipped: ';

const skip = (reason: string): Answer => ({ accepted: false, error: `${SKIPPED}${reason}` });

/** Every reason why the service does not submit an update to a builder. */
export const skipped = {
  noMaxTimestamp: skip('the request had no maxTimestamp'),
  cancel: skip('the request was a cancel'),
  superseded: skip('superseded by a newer quote before sending'),
  older: skip('older than a quote already seen for this stream'),
  foreign: skip('this replacementUuid belongs to another key'),
  duplicate: skip('this quote is already queued or being sent'),
  queueFull: skip('the bundle queue is full'),
  expired: skip('maxTimestamp passed while queued'),
  backingOff: (ms: number): Answer => skip(`the endpoint is backing off for ${ms} ms more`),
} as const;

/** How an answer counts in metrics and in the audit trail. */
export function outcomeOf(answer: Answer): 'accepted' | 'rejected' | 'skipped' {
  if (answer.accepted) return 'accepted';
  return answer.error.startsWith(SKIPPED) ? 'skipped' : 'rejected';
}
