import type { Hex } from '../quote-update.ts';

/** What a builder, or the service in its place, said to one update. */
export type Answer =
  | { readonly accepted: true; readonly timestampNs?: bigint; readonly bundleHash?: Hex }
  | { readonly accepted: false; readonly error: string };

/** How an update ended at a builder: by an answer, or without one. */
export type AnswerOutcome = 'accepted' | 'rejected' | 'skipped' | 'dropped' | 'unanswered';

/** What an API process hears about one of its submissions. */
export type AnswerNotice = {
  readonly submissionId: string;
  readonly endpointId: string;
  readonly answer: Answer;
};
