module example.com/fake/integration

go 1.26

require example.com/fake v0.0.0

replace example.com/fake => ../
