-- Why an instance is as it is, for decisions: until now they read `reason`. An object with a code. PERSON, QUARANTINE, ROLLOUT
-- (with `rollout`, its id): who cordoned it. POOL: its pool did, which asks for less. NAMESPACE_TAKEN: it could not be created in
-- a namespace that somebody else made. PODS (with `trouble`): what keeps its pods from starting, as the reason says. Null:
-- nothing is decided by the reason.
-- A process of before changes the reason alone: what it cordons after this file has run has to be cordoned again once it has
-- ended.
alter table instance add column cause json;

update instance
   set cause = case
     when starts_with(reason, 'cordoned by health: quarantine of ') then json_build_object('code', 'QUARANTINE')
     when reason ~ '^cordoned by rollout [^ :]+: ' then
       json_build_object('code', 'ROLLOUT', 'rollout', substring(reason from '^cordoned by rollout ([^ :]+): '))
     when starts_with(reason, 'cordoned by ') then json_build_object('code', 'PERSON')
     else json_build_object('code', 'POOL')
   end
 where state = 'CORDONED'
   and (starts_with(reason, 'cordoned by ')
        or reason in ('its pool asks for fewer instances: it takes no new units and is retired when it holds none',
                      'its pool asks for instances of another class: it takes no new units and is retired when it holds none',
                      'its pool was removed from fleet.yaml: it takes no new units and is retired when it holds none'));

update instance set cause = json_build_object('code', 'NAMESPACE_TAKEN')
 where state = 'FAILED' and starts_with(reason, 'namespace ' || namespace || ' is there already');

update instance set cause = json_build_object('code', 'PODS', 'trouble', substring(reason from '^waiting for its pods: (.*)$'))
 where state = 'WARMING' and starts_with(reason, 'waiting for its pods: ');
