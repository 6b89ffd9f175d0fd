import { BaseError } from 'viem';

/** What may be logged of a failure. viem puts the node's URL, which may hold a key, into messages and stacks. */
export function loggableError(error: unknown): unknown {
  if (error instanceof AggregateError) return { message: error.message, errors: error.errors.map(loggableError) };
  if (!(error instanceof BaseError)) return error;
  const root = error.walk();
  return { type: root instanceof Error ? root.name : error.name, message: error.shortMessage };
}
