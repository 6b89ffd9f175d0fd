import { useEffect, useState } from 'preact/hooks';

const TYPING_MS = 250;

/** Gives the text of a field, and what sets it. Commits it shortly after the last key was pressed. */
export function useTyped(value: string, commit: (text: string) => void): [string, (event: Event) => void] {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => commit(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, (event) => setText(textOf(event))];
}

export const textOf = (event: Event): string => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;
