-- Documents name their parts by the field's words: what a placement has to keep to is its constraints, the instances it
-- could go to are candidates, what a plan was blocked by has a rule, and a baseline counts observations. Documents of
-- before are written anew with these names; what is in them stays. A quotation mark inside a value is written \" in
-- JSON, so no value is taken for a name.
update plan
   set records = replace(records::text, '"wish":', '"constraints":')::json,
       report = replace(replace(replace(replace(report::text, '"wish":', '"constraints":'), '"withoutSeat":', '"withoutCandidate":'),
         '"brakes":', '"blockedBy":'), '"brake":', '"rule":')::json;

update decision
   set details = replace(replace(details::text, '"wish":', '"constraints":'), '"seats":', '"candidates":')::json
 where kind = 'placement';

update instance_verdict
   set baseline = replace(baseline::text, '"looks":', '"observations":')::json
 where baseline is not null;

update rollout
   set document = replace(document::text, '"FEWER_LOOKS"', '"FEWER_COMPARISONS"')::json
 where document::text like '%"FEWER_LOOKS"%';
