import type { Context } from 'hono';
import type { z } from 'zod';
import { firstIssue } from '../config/load-chains.ts';
import { badRequest } from './errors.ts';
import { bodyText } from './http/body-text.ts';

/**
 * Reads a JSON body and checks its shape. The media type is not looked at: a body is JSON or it is refused.
 *
 * @throws ApiError 400 `Invalid request body: <reason>`
 */
export async function jsonBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  const parsed = schema.safeParse(parse(await bodyText(c)));
  if (!parsed.success) throw invalidBody(firstIssue(parsed.error));
  return parsed.data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidBody(text === '' ? 'the body is empty' : 'not JSON');
  }
}

/** A message may repeat names of fields, of which a body can have thousands. */
const MAX_REASON_CHARS = 300;

const invalidBody = (reason: string) => {
  const isLong = reason.length > MAX_REASON_CHARS;
  return badRequest(`Invalid request body: ${isLong ? `${reason.slice(0, MAX_REASON_CHARS)}...` : reason}`);
};
