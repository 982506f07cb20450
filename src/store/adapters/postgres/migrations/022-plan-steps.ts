import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** What carrying a plan out came to, step by step; and moves by their plan and their instances. */
export const planSteps = {
  name: "022-plan-steps",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table plan_step (
  plan ${KEY} not null references plan on delete cascade,
  unit ${KEY} not null,
  name text not null,
  from_instance ${KEY},
  to_instance ${KEY},
  reason text not null constraint plan_step_reason check (reason in ('FORCED', 'HOT', 'SHED', 'SWAP', 'FILL')),
  outcome text not null constraint plan_step_outcome check (outcome in ('moved', 'asked', 'dropped')),
  why text not null,
  move ${KEY},
  primary key (plan, unit)
);
comment on column plan_step.to_instance is 'null where no instance had room';

create index move_by_plan on move (plan) where plan is not null;
create index move_ended on move (ended_at, id) where ended_at is not null;
`),
};
