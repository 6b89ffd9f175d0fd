/** A process, or what else has a clock of its own, may stand still, and ends at once when it is killed. */
export class Machine {
  readonly name: string;
  /** Reading of its monotonic clock when virtual time began. */
  readonly startedAt: number;
  isStopped = false;
  isDead = false;
  /** How far its wall clock is ahead, milliseconds. */
  skewMs = 0;
  /** How long a head that a node pushes is on its way to it. */
  pushMs = 5;
  /** When it last went on after it stood still, by virtual time. */
  thawedAt = 0;
  /** What came while it stood still: timers that rang, and messages that waited in its sockets. */
  readonly held: TimedEvent[] = [];

  constructor(name: string, startedAt = 0) {
    this.name = name;
    this.startedAt = startedAt;
  }
}

/** Something that happens to a machine at a time. */
export interface TimedEvent {
  at: number;
  readonly run: () => void;
  readonly machine: Machine;
  /** Whether its clock rings, rather than that something reaches it. */
  readonly isTimer: boolean;
  /** Whether it is left out. */
  isDropped: boolean;
}
