import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { decimalText, readDecimal } from './decimal-text.ts';

const TYPING_MS = 250;

const same = (text: string): string => text;

/**
 * Gives the text of a field, and what sets it. Commits its value shortly after the last key was pressed.
 *
 * @param read gives the value of a text
 * @param write gives a text of a value
 */
export function useTyped(
  value: string,
  commit: (value: string) => void,
  read = same,
  write = same,
): [string, (event: Event) => void] {
  const [text, setText] = useState(() => write(value));
  // As the value is shown: later, it would undo what is typed meanwhile.
  useLayoutEffect(() => setText((typed) => (read(typed) === value ? typed : write(value))), [value]);
  useEffect(() => {
    if (read(text) === value) return undefined;
    const timer = setTimeout(() => commit(read(text)), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, (event) => setText(textOf(event))];
}

/** The same for a decimal in the reader's locale. Its value has a point; it is empty while the text is not a number. */
export const useTypedDecimal = (value: string, commit: (value: string) => void) =>
  useTyped(value, commit, (text) => readDecimal(text) ?? '', decimalText);

export const textOf = (event: Event): string => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;
