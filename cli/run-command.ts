import { Command } from 'commander';
import type pg from 'pg';
import { readEnvironment } from '../config/environment.ts';
import { type DatabaseOptions, openDatabase } from '../db/connection.ts';
import type { ProcessRole, SessionRole } from '../db/process-roles.ts';
import { databaseSettingError } from '../db/setting-error.ts';
import { createLogger } from '../runtime/logger.ts';
import { runMain } from '../runtime/run-main.ts';

/** Last line of the help of commands. */
export const EXIT_CODES =
  'Exit codes: 0 done; 1 wrong argument or setting, or refused; 75 try again: the database is unreachable.';

const ANALYST = "an analyst's login, such as ANALYST_DATABASE_URL of npm start";

/** The result of a command: a value for programs, and a human-readable text. */
export type Result = { readonly value: unknown; readonly text: string };

export type JsonOption = { json?: true };

/**
 * Makes a program that works on the database.
 *
 * @param examples command lines without `npm run`
 */
export function databaseProgram(name: string, description: string, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  npm run ${example}\n`).join('');
  const help = `\nExamples:\n${lines}\nSettings: DATABASE_URL.\n${EXIT_CODES}`;
  return new Command(name).description(description).addHelpText('after', help);
}

/** Adds a command that prints its result, as JSON with `--json`. */
export function addCommand(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).option('--json', 'print JSON');
}

/** Runs the command that the arguments of this process name. */
export function runCommand(program: Command): void {
  runMain(async () => {
    await program.parseAsync();
  });
}

/** Prints the result of a command: one JSON value for programs, or a human-readable text. */
export function printResult(json: boolean | undefined, value: unknown, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : text);
}

/**
 * Makes the action of a command that works on the database. The action gets arguments, options and the command from
 * commander, and prints the result.
 */
export function onDatabase<A extends [...unknown[], JsonOption]>(
  work: (database: pg.Pool, ...args: A) => Promise<Result>,
  role?: ProcessRole,
): (...given: [...A, Command]) => Promise<void> {
  return async (...given) => {
    const args = given.slice(0, -1) as A;
    await withDatabase(async (database) => {
      const { value, text } = await work(database, ...args);
      printResult((args.at(-1) as JsonOption).json, value, text);
    }, role);
  };
}

/**
 * Runs the work of a command on the database of `DATABASE_URL`, then closes the connection.
 *
 * @param role role that the session acts as; default: the operator
 * @param session settings of the session, and the longest time of a statement (default: as in all processes)
 * @throws ConfigError one line when the setting is wrong, or when the database is unreachable or not migrated
 */
export async function withDatabase(
  work: (database: pg.Pool) => Promise<void>,
  role: SessionRole = 'ptd_operator',
  session: Omit<DatabaseOptions, 'max'> = {},
): Promise<void> {
  const { DATABASE_URL } = readEnvironment(['DATABASE_URL']);
  const logger = createLogger('cli', 'silent');
  const { $client } = openDatabase(DATABASE_URL, role, logger, { ...session, max: 1 });
  try {
    await work($client);
  } catch (cause) {
    throw databaseSettingError(cause, 'DATABASE_URL', role === 'analyst' ? ANALYST : undefined) ?? cause;
  } finally {
    await $client.end();
  }
}
