/** From what stops a process to what an operator may want to know, in the order of the output. */
const LEVELS = ['error', 'warning', 'note'] as const;

/**
 * - `error`: a process would not start, or would serve nothing or something wrong;
 * - `warning`: it serves less than it could;
 * - `note`: as the file says, and worth knowing.
 */
export type Level = (typeof LEVELS)[number];

/** One thing that the check found. It holds no secret: of a URL it shows the origin. */
export type Finding = {
  readonly level: Level;
  /** Null when it concerns all chains. */
  readonly chainId: number | null;
  /** Origin of the node that it concerns; null when it concerns none. */
  readonly url: string | null;
  readonly problem: string;
  /** The node did not answer: it may do so later. */
  readonly isSilent?: true;
};

/** Errors first, then warnings, then notes; otherwise in the given order. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));

export const hasErrors = (findings: readonly Finding[]): boolean => findings.some(({ level }) => level === 'error');

/** A finding as one line. */
export function findingLine({ level, chainId, url, problem }: Finding): string {
  const place = [...(chainId === null ? [] : [`chain ${chainId}`]), ...(url === null ? [] : [url])].join(', ');
  return `${level}: ${place === '' ? '' : `${place}: `}${problem}\n`;
}

/** The last line of the output. */
export function summaryLine(path: string, chains: number, findings: readonly Finding[]): string {
  const counts = LEVELS.map((level) => counted(findings.filter((finding) => finding.level === level).length, level));
  const found = findings.length === 0 ? 'no problem found' : counts.join(', ');
  return `${path}: ${counted(chains, 'chain')}, ${found}\n`;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
