package main

import (
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

func init() { answerers["quantity"] = answerQuantity }

type quantityQuestion struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Factor string `json:"factor"`
	Scale  int32  `json:"scale"`
}

type quantityFacts struct {
	Text   string  `json:"text"`
	Format string  `json:"format"`
	Sign   int     `json:"sign"`
	Value  string  `json:"value"`
	Milli  string  `json:"milli"`
	Int64  *string `json:"int64,omitempty"`
}

func factsOf(q resource.Quantity) quantityFacts {
	text := q.DeepCopy()
	facts := quantityFacts{
		Text:   text.String(),
		Format: string(q.Format),
		Sign:   q.Sign(),
		Value:  strconv.FormatInt(q.Value(), 10),
		Milli:  strconv.FormatInt(q.MilliValue(), 10),
	}
	if value, ok := q.AsInt64(); ok {
		number := strconv.FormatInt(value, 10)
		facts.Int64 = &number
	}
	return facts
}

func answerQuantity(raw json.RawMessage) (any, error) {
	var question quantityQuestion
	if err := json.Unmarshal(raw, &question); err != nil {
		return nil, err
	}
	a, err := resource.ParseQuantity(question.A)
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	answer := map[string]any{"a": factsOf(a)}
	rounded := a.DeepCopy()
	rounded.RoundUp(resource.Scale(question.Scale))
	answer["rounded"] = factsOf(rounded)
	answer["scaled"] = strconv.FormatInt(a.ScaledValue(resource.Scale(question.Scale)), 10)
	negated := a.DeepCopy()
	negated.Neg()
	answer["negated"] = factsOf(negated)
	if question.Factor != "" {
		factor, err := strconv.ParseInt(question.Factor, 10, 64)
		if err != nil {
			return nil, err
		}
		product := a.DeepCopy()
		product.Mul(factor)
		answer["product"] = factsOf(product)
	}
	if question.B == "" {
		return answer, nil
	}
	b, err := resource.ParseQuantity(question.B)
	if err != nil {
		answer["errorB"] = err.Error()
		return answer, nil
	}
	left, right := a.DeepCopy(), b.DeepCopy()
	answer["cmp"] = left.Cmp(right)
	sum := a.DeepCopy()
	sum.Add(b.DeepCopy())
	answer["sum"] = factsOf(sum)
	difference := a.DeepCopy()
	difference.Sub(b.DeepCopy())
	answer["difference"] = factsOf(difference)
	return answer, nil
}
