import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { firstIssue } from '../config/load-chains.ts';
import { duplicateKey } from '../runtime/json.ts';
import { isWithin, type JsonBounds } from '../runtime/json-scan.ts';
import { badRequest } from './errors.ts';
import { bodyBytes } from './http/body-bytes.ts';

/**
 * Reads a JSON body and checks its shape. The media type is not looked at: a body is JSON or it is refused.
 *
 * @throws ApiError 400 `Invalid request body: <reason>`
 */
export async function jsonBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return checkBody(readJson(await bodyBytes(c), JSON.parse), schema);
}

/** The same of a text that {@link readJson} has read. */
export function checkBody<S extends z.ZodType>(json: ReadJson, schema: S): z.output<S> {
  if ('problem' in json) throw badRequest(invalidBody(json.problem));
  const parsed = schema.safeParse(json.value, { reportInput: true });
  if (!parsed.success) throw badRequest(invalidBody(shapeProblem(parsed.error)));
  return parsed.data;
}

/**
 * Checks an array of strings up to its first entry that is not one: an issue for each of thousands takes zod longer than
 * everything else about a body.
 */
export const stringList = <S extends z.ZodArray<z.ZodType<string>>>(list: S) =>
  z.preprocess((value) => {
    const wrong = Array.isArray(value) ? value.findIndex((each) => typeof each !== 'string') : -1;
    return wrong < 0 ? value : (value as unknown[]).slice(0, wrong + 1);
  }, list);

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/** The first problem, as a sentence that names the field: `pools[3] must be a string`. The input must be in the issues. */
function shapeProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue?.code !== 'invalid_type') return firstIssue(error);
  const field = issue.path.map((key, depth) =>
    typeof key === 'number' ? `[${key}]` : `${depth > 0 ? '.' : ''}${String(key)}`,
  );
  const name = field.join('') || 'the body';
  return issue.input === undefined
    ? `${name} is required`
    : `${name} must be ${TYPES[issue.expected] ?? issue.expected}`;
}

/** A text beyond these is not parsed: it would hold up everybody else. A body has no room for more addresses than values. */
const BOUNDS: JsonBounds = { depth: 32, values: 6_500, fields: 1_000, numberChars: 100, padding: 20_000 };

/** The value of a JSON text, or what is wrong with the text. */
export type ReadJson = { readonly value: unknown } | { readonly problem: string };

/** Reads a JSON text of UTF-8 in which no object has a key twice. */
export function readJson(bytes: Uint8Array, parse: (text: string) => unknown): ReadJson {
  if (bytes.length === 0) return { problem: 'the body is empty' };
  if (!isWithin(bytes, BOUNDS)) return { problem: 'not JSON' };
  const text = new TextDecoder().decode(bytes);
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return { problem: 'not JSON' };
  }
  const key = duplicateKey(text);
  return key === null ? { value } : { problem: `duplicate key ${JSON.stringify(key)}` };
}

/** A message may repeat names of fields, of which a body can have thousands. */
const MAX_REASON_CHARS = 300;

/** The message about a body that cannot be read. */
export function invalidBody(reason: string): string {
  const isLong = reason.length > MAX_REASON_CHARS;
  return `Invalid request body: ${isLong ? `${reason.slice(0, MAX_REASON_CHARS)}...` : reason}`;
}
