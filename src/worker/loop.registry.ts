// Lists the loops of the worker in the SchedulerRegistry of `@nestjs/schedule`, as intervals, while they run.

import { Inject, Injectable } from '@nestjs/common';
import type { SchedulerRegistry } from '@nestjs/schedule';
import type { LoopStatus } from '../../libs/engine/index.js';
import { RhythmEvents } from '../events/rhythm.events.js';
import { RHYTHM_SCHEDULER_REGISTRY } from '../module-options.js';

/**
 * An entry is added when its loop starts and removed when it has ended. It is the loop's status and not a timer of Node: a loop sets
 * a new timer after each pass, thousands of times per second under load.
 */
@Injectable()
export class LoopRegistry {
  constructor(
    private readonly events: RhythmEvents,
    @Inject(RHYTHM_SCHEDULER_REGISTRY) private readonly registry: SchedulerRegistry,
  ) {}

  /** Follows the loops that start from now on. */
  start(): void {
    this.events.subscribe(['loop-started'], ({ loop }) => this.add(loop));
    this.events.subscribe(['loop-stopped'], ({ loop }) => this.remove(loop));
  }

  private add(loop: LoopStatus): void {
    const name = nameOf(loop);
    if (this.registry.doesExist('interval', name)) this.registry.deleteInterval(name);
    this.registry.addInterval(name, loop);
  }

  private remove(loop: LoopStatus): void {
    const name = nameOf(loop);
    if (this.registry.doesExist('interval', name) && this.registry.getInterval(name) === loop) this.registry.deleteInterval(name);
  }
}

function nameOf({ name }: LoopStatus): string {
  return `rhythm:${name}`;
}
