// `RhythmEvents`: what happens in this process, as a provider that logs, metrics and traces subscribe to.

import { Injectable } from '@nestjs/common';
import { EngineEvents } from '../../libs/engine/index.js';

/**
 * The events of this process: `events.subscribe(['finished'], ({ name, status }) => …)`. A process with the role "api" runs no
 * work, so the only events there are `signal-sent` and the `finished` of tasks that it completes from outside.
 *
 * @publicApi
 */
@Injectable()
export class RhythmEvents extends EngineEvents {}
