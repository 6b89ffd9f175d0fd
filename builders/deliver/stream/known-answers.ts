import type { Answer } from '../../submit/answer.ts';
import { deadlineMs, type Submission } from '../../submit/quote-update.ts';

/** Answers by id of the submission, in parts by its deadline: a change copies one part. */
export type KnownAnswers = ReadonlyMap<number, ReadonlyMap<string, Answer>>;

/** Deadlines of a part. */
const PART_MS = 100;

const partOf = (submission: Submission): number => Math.floor(deadlineMs(submission) / PART_MS);

export const answerTo = (known: KnownAnswers, submission: Submission): Answer | undefined =>
  known.get(partOf(submission))?.get(submission.id);

/** Adds the answer to these submissions, and forgets parts whose deadlines have passed. */
export function withAnswer(
  known: KnownAnswers,
  submissions: readonly Submission[],
  answer: Answer,
  now: number,
): KnownAnswers {
  const answers = new Map([...known].filter(([part]) => (part + 1) * PART_MS > now));
  for (const submission of submissions) {
    const part = partOf(submission);
    answers.set(part, new Map(answers.get(part)).set(submission.id, answer));
  }
  return answers;
}
