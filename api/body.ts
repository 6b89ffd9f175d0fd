import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { firstIssue } from '../config/load-chains.ts';
import { parseJson } from '../runtime/json.ts';
import { ApiError, badRequest } from './errors.ts';

/**
 * Reads a JSON body and checks its shape. The media type does not matter: a body that is not JSON is rejected.
 *
 * @throws ApiError 400 `Invalid request body: <reason>`
 */
export async function jsonBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return checkBody(readJson(await bodyBytes(c)), schema);
}

/** Checks, as {@link jsonBody} does, a text that {@link readJson} has read. */
export function checkBody<S extends z.ZodType>(json: ReadJson, schema: S): z.output<S> {
  if ('problem' in json) throw badRequest(json.problem);
  const parsed = schema.safeParse(json.value);
  if (!parsed.success) throw badRequest(invalidBody(firstIssue(parsed.error)));
  return parsed.data;
}

/**
 * Checks an array of strings up to its first entry that is not a string. If thousands of entries were wrong, zod would
 * spend more time on their issues than all other checks of the body take.
 */
export const stringList = <S extends z.ZodArray<z.ZodType<string>>>(list: S) =>
  z.preprocess((value) => {
    const wrong = Array.isArray(value) ? value.findIndex((each) => typeof each !== 'string') : -1;
    return wrong < 0 ? value : (value as unknown[]).slice(0, wrong + 1);
  }, list);

/** A text with more values is not parsed, which would delay other requests. No body has room for as many addresses. */
const MAX_VALUES = 6_500;
/** A sign that stands before each value but the outermost. */
const BEFORE_VALUE = /[[{,]/;

/** The value of a JSON text, or the message that rejects the text. */
export type ReadJson = { readonly value: unknown } | { readonly problem: string };

/** Reads a JSON text of UTF-8. Keeps integers exact, and rejects an object that has two values for a key. */
export function readJson(bytes: Uint8Array): ReadJson {
  const text = new TextDecoder().decode(bytes);
  try {
    if (text.split(BEFORE_VALUE, MAX_VALUES + 1).length > MAX_VALUES) throw new SyntaxError('too many values');
    return { value: parseJson(text) };
  } catch (error) {
    return { problem: invalidBody(error instanceof SyntaxError ? error.message : 'nested too deeply') };
  }
}

/** Longer reasons are cut: they may repeat names of fields, of which a body can have thousands. */
const MAX_REASON_CHARS = 300;

/** The message about a body that cannot be read. */
export function invalidBody(reason: string): string {
  const isLong = reason.length > MAX_REASON_CHARS;
  return `Invalid request body: ${isLong ? `${reason.slice(0, MAX_REASON_CHARS)}...` : reason}`;
}

/**
 * Reads the body of a request as it came. That fails only when the client disconnects or sends another length than it
 * announced, which is an error of the client and not a defect.
 *
 * @throws ApiError 400
 */
export async function bodyBytes(c: Context): Promise<Uint8Array> {
  try {
    return new Uint8Array(await c.req.arrayBuffer());
  } catch (cause) {
    throw incompleteBody(cause);
  }
}

export const incompleteBody = (cause: unknown): ApiError =>
  new ApiError(400, { error: invalidBody('incomplete') }, { cause });
