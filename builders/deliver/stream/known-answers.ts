import type { Answer } from '../../submit/answer.ts';
import { deadlineMs, type Submission } from '../../submit/quote-update.ts';

/** Answers by id of the submission, in parts by the second of its deadline: a change copies one part. */
export type KnownAnswers = ReadonlyMap<number, ReadonlyMap<string, Answer>>;

const SECOND_MS = 1_000;

const secondOf = (submission: Submission): number => Math.floor(deadlineMs(submission) / SECOND_MS);

export const answerTo = (known: KnownAnswers, submission: Submission): Answer | undefined =>
  known.get(secondOf(submission))?.get(submission.id);

/** Adds the answer to these submissions, and forgets those to submissions whose deadline was in an earlier second. */
export function withAnswer(
  known: KnownAnswers,
  submissions: readonly Submission[],
  answer: Answer,
  now: number,
): KnownAnswers {
  const answers = new Map([...known].filter(([second]) => (second + 1) * SECOND_MS > now));
  for (const submission of submissions) {
    const second = secondOf(submission);
    answers.set(second, new Map(answers.get(second)).set(submission.id, answer));
  }
  return answers;
}
