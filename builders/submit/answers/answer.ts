import type { Hex } from '../quote-update.ts';

/** What a builder, or the service in its place, said to one update. */
export type Answer =
  | { readonly accepted: true; readonly timestampNs?: bigint; readonly bundleHash?: Hex }
  | { readonly accepted: false; readonly error: string };

/** How an update ended at a builder: by an answer, or without one. */
export type AnswerOutcome = 'accepted' | 'rejected' | 'skipped' | 'dropped' | 'unanswered';

/** JSON form of an {@link Answer}. */
export type AnswerMessage =
  | { readonly accepted: true; readonly timestampNs?: string; readonly bundleHash?: Hex }
  | { readonly accepted: false; readonly error: string };

export function encodeAnswer(answer: Answer): AnswerMessage {
  if (!answer.accepted) return answer;
  const { timestampNs, ...rest } = answer;
  return timestampNs === undefined ? rest : { ...rest, timestampNs: timestampNs.toString() };
}

export function decodeAnswer(message: AnswerMessage): Answer {
  if (!message.accepted) return message;
  const { timestampNs, ...rest } = message;
  return timestampNs === undefined ? rest : { ...rest, timestampNs: BigInt(timestampNs) };
}
