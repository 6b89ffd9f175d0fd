import { INVARIANTS } from '../invariants/invariants.ts';
import type { Check } from './project.ts';

/** Of each invariant, the mutation fits once, and the file of its test exists. */
export const checkInvariants: Check = ({ files, textOf }) => {
  const countOf = (file: string, text: string) => (files.includes(file) ? textOf(file).split(text).length - 1 : 0);
  return INVARIANTS.flatMap(({ mutation: [file, text], test: [testFile] }) => [
    ...(countOf(file, text) === 1 ? [] : [`${file} has ${countOf(file, text)} times: ${text}`]),
    ...(files.includes(testFile) ? [] : [`${testFile} is missing`]),
  ]);
};
