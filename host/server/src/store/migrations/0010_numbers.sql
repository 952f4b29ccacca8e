-- Numbers are compared by value: one that ends with zeros behind its point stands as without
-- them. Those with an exponent stay as they are.
UPDATE job_metadata
SET value = RTRIM(RTRIM(value, '0'), '.')
WHERE value GLOB 's*.*0' AND value NOT GLOB '*[eE]*'
  AND CASE WHEN json_valid(SUBSTR(value, 2)) THEN json_type(SUBSTR(value, 2)) = 'real' ELSE FALSE END;
