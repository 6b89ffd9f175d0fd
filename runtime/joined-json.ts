/** JSON that is ready: a text, or what else a body is joined from. */
export class ReadyJson<P> {
  constructor(readonly json: P) {}
}

/** A value that is written as JSON, parts of which are ready. */
type Joined<P> =
  | ReadyJson<P>
  | string
  | number
  | boolean
  | null
  | readonly Joined<P>[]
  | { readonly [name: string]: Joined<P> };

/** Stands for a part in a text: `JSON.stringify` writes no other string like this, since it escapes no letter. */
const PLACE = '"\\u0061"';
const place = JSON.rawJSON(PLACE);

/** Writes JSON around parts that are ready. @returns texts and parts, which make the JSON in this order */
export function joinJson<P>(value: Joined<P>): (string | P)[] {
  const ready: P[] = [];
  const text = JSON.stringify(value, (_name, each: Joined<P>) => {
    if (!(each instanceof ReadyJson)) return each;
    ready.push(each.json);
    return place;
  });
  const [first = '', ...texts] = text.split(PLACE);
  const parts: (string | P)[] = [first];
  for (const [index, json] of ready.entries()) parts.push(json, texts[index] ?? '');
  return parts;
}

/** JSON of an object whose fields may be ready. Faster than {@link joinJson}: values are not looked into. */
export function writeObject(fields: Readonly<Record<string, unknown>>): string {
  const written = Object.entries(fields).map(([name, value]) => {
    return `${JSON.stringify(name)}:${value instanceof ReadyJson ? value.json : JSON.stringify(value)}`;
  });
  return `{${written.join()}}`;
}

/** An array of values that are ready. */
export const readyArray = (values: readonly string[]): ReadyJson<string> => new ReadyJson(`[${values.join()}]`);

/** The JSON object with the fields of two, of which neither is empty. */
export const joinObjects = (first: string, second: string): string => `${first.slice(0, -1)},${second.slice(1)}`;
